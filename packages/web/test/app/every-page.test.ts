import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type AppStage, type OpenTab, openAppStage, openTab } from "../../dev/app-stage.ts"
import { startBrowser } from "../../dev/browser.ts"
import { findBarriers, isTooWide } from "./check-page.ts"
import { pageCases } from "./page-cases.ts"
import { type SeededPages, seedPages } from "./seed-pages.ts"

const browser: Browser | undefined = await startBrowser()

const sizes = { wide: { width: 1360, height: 850 }, phone: { width: 390, height: 844 } } as const

/** Everything is looked for once at each size; in the other colours only what depends on them. */
const looks = [
  { size: "wide", scheme: "light", kind: "everything" },
  { size: "wide", scheme: "dark", kind: "colours" },
  { size: "phone", scheme: "dark", kind: "everything" },
  { size: "phone", scheme: "light", kind: "colours" },
] as const
const pageMsMax = 60_000

describe.skipIf(!browser)("every page", () => {
  let stage: AppStage
  let seeded: SeededPages
  const tabs = new Map<string, OpenTab>()
  beforeAll(async () => {
    stage = await openAppStage()
    seeded = await seedPages(stage)
    const open = async (who: string, ...args: Parameters<typeof openTab> extends [Browser, AppStage, ...infer Rest] ? Rest : never) =>
      tabs.set(who, await openTab(browser as Browser, stage, ...args))
    await open("nobody")
    await open("ada", seeded.ada)
    await open("newcomer", seeded.newcomer)
  }, 120_000)
  afterAll(async () => {
    for (const tab of tabs.values()) await tab[Symbol.asyncDispose]()
    await stage?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  for (const [who, rows] of Object.entries(pageCases))
    for (const { name, path, text, before } of rows)
      test(
        `${name} (${who}) is for everybody, in light and dark, wide and on a phone`,
        async () => {
          const tab = tabs.get(who) as OpenTab
          const { page } = tab
          await page.setViewportSize(sizes.wide)
          await page.goto(typeof path === "string" ? path : path(seeded))
          await page.getByRole("heading", { level: 1 }).first().waitFor()
          await before?.(page)
          await page.getByText(text).first().waitFor()
          for (const { size, scheme, kind } of looks) {
            await page.setViewportSize(sizes[size])
            await page.emulateMedia({ colorScheme: scheme })
            const found = { barriers: await findBarriers(page, kind), isTooWide: await isTooWide(page) }
            expect({ size, scheme, ...found }).toEqual({ size, scheme, barriers: [], isTooWide: false })
          }
          expect(await page.getByRole("heading", { level: 1, includeHidden: true }).count()).toBeGreaterThan(0)
          expect(tab.problems.splice(0)).toEqual([])
        },
        pageMsMax,
      )
})
