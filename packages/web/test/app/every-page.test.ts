import { beforeAll, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import type { OpenTab } from "../../dev/app-stage.ts"
import {
  findBarriers,
  findHeadingJumps,
  findSmallTargets,
  findTooWide,
} from "../support/check-page.ts"
import { findPaleTexts } from "../support/contrast.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { pageCases } from "./every-page/page-cases.ts"
import { type SeededPages, seedPages } from "./every-page/seed-pages.ts"

const sizes = { wide: { width: 1360, height: 850 }, phone: { width: 390, height: 844 } } as const

const findPale = (page: Page) => page.evaluate(findPaleTexts)

/** Axe looks once at each size: it does not find more in other colours. Contrast is looked at in all. */
const looks = [
  { size: "wide", scheme: "light", find: findBarriers },
  { size: "wide", scheme: "dark", find: findPale },
  { size: "phone", scheme: "dark", find: findBarriers },
  { size: "phone", scheme: "light", find: findPale },
] as const

describeApp("every page", (app) => {
  let seeded: SeededPages
  const tabs = new Map<string, OpenTab>()
  beforeAll(async () => {
    seeded = await seedPages(app.stage)
    for (const [viewer, person] of Object.entries({
      visitor: undefined,
      ada: seeded.ada,
      newcomer: seeded.newcomer,
      grace: seeded.grace,
      viewer: seeded.viewer,
      administrator: app.stage.admin,
    }))
      tabs.set(viewer, await app.open(person))
  })

  for (const [viewer, rows] of Object.entries(pageCases))
    for (const [index, { name, path, text, before }] of rows.entries())
      test(`${name} (${viewer}) is usable in light and dark, wide and on a phone`, async () => {
        const tab = tabs.get(viewer) as OpenTab
        const { page, problems } = tab
        // From an earlier test that failed.
        problems.splice(0)
        await page.setViewportSize(sizes.wide)
        const to = typeof path === "string" ? path : path(seeded)
        // What a test has opened on the page before may stay open, and embedded pages have no links.
        const isNew = rows[index - 1]?.before !== undefined || text === absence
        if (isNew || to.startsWith("/embed/") || !(await follow(page, to))) await page.goto(to)
        await page.getByRole("heading", { level: 1 }).first().waitFor()
        await before?.(page)
        await page.getByText(text).first().waitFor()
        for (const { size, scheme, find } of looks) {
          await page.setViewportSize(sizes[size])
          await page.emulateMedia({ colorScheme: scheme })
          // Loading content may move elements for a moment.
          const look = async () => ({
            barriers: [...(await find(page))],
            tooWide: await findTooWide(page),
            headingJumps: await findHeadingJumps(page),
            tooSmall: size === "phone" ? await findSmallTargets(page) : [],
          })
          await eventually(look, (found) =>
            expect({ size, scheme, ...found }).toEqual({
              size,
              scheme,
              barriers: [],
              tooWide: [],
              headingJumps: [],
              tooSmall: [],
            }),
          )
        }
        expect(
          await page.getByRole("heading", { level: 1, includeHidden: true }).count(),
        ).toBeGreaterThan(0)
        expect(problems).toEqual([])
      })
})

/** What the app says where it has no page. */
const absence = "Not found"

/**
 * Follows a link from a place without a page, so that nothing of an earlier page is left. A new
 * document, with axe in it, would take half a second of CPU time. Returns whether the app was open.
 */
async function follow(page: Page, to: string): Promise<boolean> {
  const open = (to: string) =>
    page.evaluate((href) => {
      const link = Object.assign(document.createElement("a"), { href })
      document.body.append(link)
      link.click()
      link.remove()
    }, to)
  if ((await page.locator("#app").count()) === 0 || page.url().includes("/embed/")) return false
  await open("/nothing/is/here")
  await page.getByRole("heading", { name: absence }).waitFor()
  await open(to)
  return true
}
