import { beforeAll, expect, test } from "bun:test"
import type { OpenTab } from "../../dev/app-stage.ts"
import { eventually } from "../eventually.ts"
import { findBarriers, isTooWide } from "./check-page.ts"
import { describeApp } from "./describe-app.ts"
import { pageCases } from "./page-cases.ts"
import { type SeededPages, seedPages } from "./seed-pages.ts"

const sizes = { wide: { width: 1360, height: 850 }, phone: { width: 390, height: 844 } } as const

/** Everything is looked for once at each size; in the other colours only what depends on them. */
const looks = [
  { size: "wide", scheme: "light", kind: "everything" },
  { size: "wide", scheme: "dark", kind: "colours" },
  { size: "phone", scheme: "dark", kind: "everything" },
  { size: "phone", scheme: "light", kind: "colours" },
] as const

describeApp("every page", (app) => {
  let seeded: SeededPages
  const tabs = new Map<string, OpenTab>()
  beforeAll(async () => {
    seeded = await seedPages(app.stage)
    for (const [who, person] of Object.entries({
      nobody: undefined,
      ada: seeded.ada,
      newcomer: seeded.newcomer,
    }))
      tabs.set(who, await app.open(person))
  })

  for (const [who, rows] of Object.entries(pageCases))
    for (const { name, path, text, before } of rows)
      test(`${name} (${who}) is for everybody, in light and dark, wide and on a phone`, async () => {
        const tab = tabs.get(who) as OpenTab
        const { page, problems } = tab
        // Of a test before this one that failed.
        problems.splice(0)
        await page.setViewportSize(sizes.wide)
        await page.goto(typeof path === "string" ? path : path(seeded))
        await page.getByRole("heading", { level: 1 }).first().waitFor()
        await before?.(page)
        await page.getByText(text).first().waitFor()
        for (const { size, scheme, kind } of looks) {
          await page.setViewportSize(sizes[size])
          await page.emulateMedia({ colorScheme: scheme })
          // What is still on its way may move things for a moment.
          const look = async () => ({
            barriers: await findBarriers(page, kind),
            isTooWide: await isTooWide(page),
          })
          await eventually(look, (found) =>
            expect({ size, scheme, ...found }).toEqual({
              size,
              scheme,
              barriers: [],
              isTooWide: false,
            }),
          )
        }
        expect(
          await page.getByRole("heading", { level: 1, includeHidden: true }).count(),
        ).toBeGreaterThan(0)
        expect(problems).toEqual([])
      })
})
