import { beforeAll, expect, test } from "bun:test"
import type { Locator, Page } from "playwright-core"
import { changeSettings } from "../support/change-settings.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"

const sizes = { wide: { width: 1360, height: 850 }, phone: { width: 390, height: 844 } } as const

/** An element that must not move when something else arrives late. */
interface LateCase {
  readonly title: string
  readonly path: string
  readonly size: keyof typeof sizes
  readonly late: RegExp
  readonly findLate: (page: Page) => Locator
  readonly find: (page: Page) => Locator
  /** Settings of the server that show it. */
  readonly settings?: Readonly<Record<string, string>>
}

const lateCases: readonly LateCase[] = [
  {
    title: "a button below the sessions",
    path: "/account/sessions",
    size: "wide",
    late: /\/v1\/me\/sessions\?/,
    findLate: (page) => page.getByText("this browser"),
    find: (page) => page.getByText("Link an account"),
    settings: { providerName: "Corp" },
  },
  {
    title: "a user below the invitations",
    path: "/people",
    size: "wide",
    late: /\/v1\/invitations\?/,
    findLate: (page) => page.getByText("No open invitations."),
    find: (page) => page.locator(".table-name"),
  },
  {
    title: "the deletion of a val below its secrets",
    path: "/u/root/timed/settings",
    size: "phone",
    late: /\/secrets\?/,
    findLate: (page) => page.getByText("None."),
    find: (page) => page.getByText("Delete…"),
  },
  {
    title: "the filters below the charts of runs",
    path: "/runs",
    size: "phone",
    late: /\/v1\/me\/stats\?/,
    findLate: (page) => page.locator(".chart").last(),
    find: (page) => page.getByLabel("Status"),
  },
  {
    title: "the examples below the meaning of a schedule",
    path: "/u/root/timed/schedule",
    size: "wide",
    late: /\/v1\/schedules\/preview/,
    findLate: (page) => page.locator(".next-times"),
    find: (page) => page.getByText("15 minutes"),
  },
  {
    title: "a val below one with a schedule",
    path: "/?sort=name",
    size: "wide",
    late: /\/v1\/me\/schedules\?/,
    findLate: (page) => page.getByText("No schedule"),
    find: (page) => page.locator(".table-name", { hasText: "zebra" }),
  },
]

/** Holds requests until `release`. */
async function hold(page: Page, address: RegExp, method = "GET") {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (route.request().method() === method) await promise
    await route.fallback()
  })
  return { release }
}

describeApp("while something loads", (app) => {
  beforeAll(async () => {
    const { client } = app.stage.admin
    await client.createVal({ name: "timed", type: "interval", code: "export default () => 1" })
    await client.createVal({ name: "zebra", code: "export default () => 1" })
  })

  for (const { title, path, size, late, findLate, find, settings } of lateCases)
    test(`${title} does not move under the pointer`, async () => {
      await using tab = await app.openOwn()
      const { page } = tab
      await page.setViewportSize(sizes[size])
      if (settings) await changeSettings(page, path, settings)
      const { release } = await hold(page, late)
      await page.goto(path)
      const target = find(page)
      await target.waitFor({ state: "attached" })
      const before = (await target.isVisible()) ? await findPlace(target) : null
      release()
      await findLate(page).waitFor()
      await target.waitFor()
      if (before) expect(await findPlace(target)).toEqual(before)
    })

  test("a list that cannot be fetched after a change says so, and is fetched on demand", async () => {
    for (const size of ["wide", "phone"] as const) {
      const { client } = app.stage.admin
      await client.createToken({ name: "old", scopes: ["val:read"] })
      await using tab = await app.openOwn()
      const { page } = tab
      page.on("dialog", (dialog) => void dialog.accept())
      await page.setViewportSize(sizes[size])
      await page.goto("/account/tokens")
      const revoke = page.getByRole("button", { name: "Revoke old" })
      await revoke.waitFor()
      await page.route(/\/v1\/me\/tokens\?/, (route) =>
        route.fulfill({ status: 500, json: { code: "internal", message: "Broken" } }),
      )
      await revoke.click()
      const warning = page.getByText("What you see may be out of date. Broken")
      await warning.waitFor()
      await revoke.waitFor()
      await page.unroute(/\/v1\/me\/tokens\?/)
      await page.getByRole("button", { name: "Try again" }).click()
      await revoke.waitFor({ state: "detached" })
      await warning.waitFor({ state: "detached" })
    }
  })

  test.each([
    ["readme", "render-markdown", "Cannot load this text", "About it"],
    ["discussion", "discussion-tab", "Cannot load this part of the page", "No comments yet"],
  ])(
    "the %s of a val whose script cannot be loaded says so, and is loaded on demand",
    async (tab, script, failure, content) => {
      const { client } = app.stage.admin
      const name = `described_${tab}`
      await client.createVal({ name, code: "export default 1", readme: "# About it" })
      await using own = await app.openOwn()
      const { page } = own
      const address = `**/assets/${script}-*.js`
      await page.route(address, (route) => route.abort())
      await page.goto(`/u/root/${name}/${tab}`)
      await page.getByRole("alert").filter({ hasText: failure }).waitFor()
      await page.unroute(address)
      await page.getByRole("button", { name: "Try again" }).click()
      await page.getByText(content).waitFor()
    },
  )

  test("a page that was left while it was loading does not take the place of the next one", async () => {
    await using own = await app.openOwn()
    const { page } = own
    await page.goto("/")
    const held = Promise.withResolvers<void>()
    await page.route("**/assets/schedules-*.js", async (route) => {
      await held.promise
      await route.abort()
    })
    const leave = page.getByRole("link", { name: "Schedules", exact: true })
    await Promise.all([page.waitForRequest("**/assets/schedules-*.js"), leave.click()])
    await page.getByRole("link", { name: "Explore", exact: true }).click()
    const shown = page.getByRole("heading", { level: 1, name: "Explore" })
    await shown.waitFor()
    // The app looks whether the server is there.
    await Promise.all([page.waitForResponse("**/healthz"), held.resolve()])
    expect([await shown.count(), await page.getByRole("alert").count()]).toEqual([1, 0])
  })

  test("a list that was opened again before a change ended shows the change", async () => {
    await app.stage.admin.client.createToken({ name: "old", scopes: ["val:read"] })
    await using tab = await app.openOwn()
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/account/tokens")
    const { release } = await hold(page, /\/v1\/me\/tokens\//, "DELETE")
    const revoke = page.getByRole("button", { name: "Revoke old" })
    await Promise.all([page.waitForRequest(/\/v1\/me\/tokens\//), revoke.click()])
    await page.getByRole("link", { name: "Usage" }).click()
    await page.getByText("Runs at once").waitFor()
    await page.getByRole("link", { name: "Tokens" }).click()
    await revoke.waitFor()
    await seeNote(page, "old is revoked", async () => release())
    await revoke.waitFor({ state: "detached" })
  })

  test("a response that takes longer than the time between two polls arrives", async () => {
    await using tab = await app.open(app.stage.admin, {})
    const { page } = tab
    const asked: string[] = []
    const ended: string[] = []
    const isUsage = (url: string) => url.includes("/v1/me/usage")
    page.on("request", (it) => isUsage(it.url()) && asked.push(it.url()))
    page.on("requestfailed", (it) => isUsage(it.url()) && ended.push(it.url()))
    await page.clock.install()
    const { release } = await hold(page, /\/v1\/me\/usage/)
    await Promise.all([page.waitForRequest(/\/v1\/me\/usage/), page.goto("/account/usage")])
    await page.clock.runFor(20_000)
    expect([asked.length, ended]).toEqual([1, []])
    release()
    await page.getByText("Runs at once").waitFor()
    await page.clock.runFor(4_000)
    await eventually(
      () => asked.length,
      (count) => expect(count).toBeGreaterThan(1),
    )
  })
})

/** Where an element is, in whole pixels. */
async function findPlace(target: Locator): Promise<readonly number[]> {
  const { x, y, width, height } = (await target.boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  }
  return [x, y, width, height].map(Math.round)
}
