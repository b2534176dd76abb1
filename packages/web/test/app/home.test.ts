import { expect, test } from "bun:test"
import type { Locator, Page } from "playwright-core"
import type { OpenTab, Person } from "../../dev/app-stage.ts"
import { templates } from "../../src/app/templates/catalog.ts"
import { sources } from "../../src/app/templates/sources.ts"
import type { TemplateSource } from "../../src/app/templates/template.ts"
import { changeSettings } from "../support/change-settings.ts"
import { expectNoBarriers, findTooWide } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"

describeApp("home", (app) => {
  /** A user with a val that they like, and that has not run yet. */
  async function makeLucky(username: string) {
    const owner = await app.stage.person(username)
    const val = await owner.client.createVal({ name: "lucky", privacy: "public", code: lucky })
    await owner.client.likeVal({ val_id: val.id })
    return { owner, val }
  }

  test("creates a val from a template with one click", async () => {
    const newcomer = await app.stage.person("newcomer")
    await using tab = await app.open(newcomer)
    await tab.page.goto("/")
    await tab.page.getByRole("heading", { name: "Welcome, newcomer" }).waitFor()
    for (const [index, { title, key }] of templates.slice(0, 2).entries()) {
      const { name } = sources[key] as TemplateSource
      if (index > 0) await tab.page.getByRole("link", { name: "New val" }).click()
      await tab.page.getByRole("button", { name: title }).click()
      await tab.page.waitForURL(`**/u/newcomer/${name}`)
      await tab.page.getByRole("heading", { level: 1 }).filter({ hasText: name }).waitFor()
    }
    expect(tab.problems).toEqual([])
  })

  test("shows the operator's notice above every page", async () => {
    await using tab = await app.open(await app.stage.person("warned"))
    const { page } = tab
    await changeSettings(page, "/search", { notice: "Weak isolation." })
    await page.goto("/search")
    await page
      .getByRole("complementary", { name: "About this server" })
      .getByText("Weak isolation.")
      .waitFor()
    await expectNoBarriers(page)
    await page.goto("/")
    await page.getByRole("heading", { name: "Welcome, warned" }).waitFor()
    expect(await page.getByRole("complementary", { name: "About this server" }).count()).toBe(0)
  })

  test("fits screens between a phone and a wide one", async () => {
    const { owner } = await makeLucky("tablet")
    const versions = [{ code: "export default () => new Response()" }]
    // Names of many lengths, so that the end of a line is everywhere in their addresses.
    const vals = Array.from({ length: 40 }, (_, index) => ({
      name: `shop_${"x".repeat(index + 1)}`,
      privacy: "private" as const,
      type: "http" as const,
      versions,
    }))
    await owner.client.importVals({ vals })
    await using tab = await app.open(owner)
    const { page } = tab
    await page.goto("/")
    const name = page.locator(".table-name", { hasText: "lucky" })
    await name.waitFor()
    // The page has its new width a little later, and what it still loads may move elements.
    const lookAt = async (width: number, look: () => Promise<object>, expected: object) => {
      await page.setViewportSize({ width, height: 800 })
      await eventually(
        async () => ({ width: await page.evaluate(() => innerWidth), ...(await look()) }),
        (found: object) => expect(found).toEqual({ width, ...expected }),
      )
    }
    const lookAtPorts = async () => ({ lines: await countPortLines(page) })
    for (const width of [390, 480, 560, 640, 1280]) await lookAt(width, lookAtPorts, { lines: 1 })
    const lookAtAll = async () => {
      const search = await boxOf(page.locator(".top-search"))
      const bell = await boxOf(page.locator(".bell"))
      const { width: column } = await boxOf(page.locator("td", { has: name }))
      return {
        tooWide: await findTooWide(page),
        gap: bell.x >= search.x + search.width,
        wide: column > 120,
        ...(await lookAtPorts()),
      }
    }
    for (const width of [720, 768, 959, 960, 1024, 1119, 1120])
      await lookAt(width, lookAtAll, { tooWide: [], gap: true, wide: true, lines: 1 })
  })

  test("loads at most 60 KB of scripts, and a val's page with its editor at most 260 KB", async () => {
    const grace = await app.stage.person("grace")
    const val = await grace.client.createVal({ code: "export default 1", name: "weighed" })
    expect(await weigh(await app.open(grace), "/", "Home")).toBeLessThanOrEqual(60_000)
    expect(
      await weigh(await app.open(grace), new URL(val.url).pathname, "Code of grace/weighed"),
    ).toBeLessThanOrEqual(260_000)
  })

  test("filters and sorts, and the address contains the filter", async () => {
    const ada = await app.stage.person("ada")
    await ada.client.importVals({
      vals: [
        {
          name: "beta",
          type: "http",
          privacy: "public",
          versions: [{ code: "export default () => new Response()" }],
        },
        {
          name: "alphabet",
          type: "script",
          privacy: "private",
          versions: [{ code: "export default 1" }],
        },
        {
          name: "gamma",
          type: "http",
          privacy: "private",
          versions: [{ code: "export default 2" }],
        },
      ],
    })
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/")
    await row(page, "gamma").waitFor()
    await eventually(
      () => row(page, "beta").textContent(),
      (found) => expect(found).toContain("HTTPPublic"),
    )
    await eventually(
      () => row(page, "alphabet").textContent(),
      (found) => expect(found).toContain("ScriptPrivate"),
    )
    await page.getByLabel("Order").selectOption({ label: "Name" })
    await expectNames(page, ["alphabet", "beta", "gamma"])
    await page.getByLabel("Filter by name").pressSequentially("bet")
    await page.waitForURL((url) => url.search === "?sort=name&q=bet")
    await expectNames(page, ["alphabet", "beta"])
    await page.getByLabel("Privacy").selectOption("Public")
    await page.waitForURL((url) => url.search === "?sort=name&q=bet&privacy=public")
    await expectNames(page, ["beta"])
    await page.reload()
    await expectNames(page, ["beta"])
    await page.getByLabel("Type").selectOption("Script")
    await page.getByRole("button", { name: "Show all vals" }).click()
    await expectNames(page, ["alphabet", "beta", "gamma"])
    const filter = page.getByLabel("Filter by name")
    await eventually(
      () => filter.inputValue(),
      (value) => expect(value).toBe(""),
    )
    expect(tab.problems).toEqual([])
  })

  test("shows new runs by themselves, likes and importers", async () => {
    const { owner, val } = await makeLucky("carl")
    const bob = await app.stage.person("bob")
    await bob.client.createVal({
      name: "uses_lucky",
      privacy: "public",
      code: `import lucky from "${val.links.module}"\nexport default lucky`,
    })
    await using tab = await app.open(owner)
    const { page } = tab
    await page.goto("/")
    const latest = page.getByRole("region", { name: "Latest runs" })
    await latest.getByText("each run appears here").waitFor()
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
    await runTwice(owner, val)
    await latest.getByRole("link", { name: /^lucky.*succeeded/ }).waitFor()
    await latest.getByRole("link", { name: /^lucky.*failed/ }).waitFor()
    await row(page, "lucky").getByRole("img", { name: "2 runs, 1 failed" }).waitFor()
    expect(
      await row(page, "lucky").locator(".spark-error[height]:not([height='0'])").count(),
    ).toBeGreaterThan(0)
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true)
    await page
      .getByRole("region", { name: "Liked vals" })
      .getByRole("link", { name: "carl/lucky" })
      .waitFor()
    await page
      .getByRole("region", { name: "Who imports your vals" })
      .getByRole("link", { name: "bob/uses_lucky" })
      .waitFor()
    await row(page, "lucky").locator(".fact").getByText("1", { exact: true }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("shows hundreds of vals", async () => {
    const many = await app.stage.person("many")
    const vals = Array.from({ length: 300 }, (_, index) => ({
      name: `val_${String(index).padStart(4, "0")}_${"x".repeat(index % 30)}`,
      versions: [{ code: `export default ${index}` }],
    }))
    for (let from = 0; from < vals.length; from += 150)
      await many.client.importVals({ vals: vals.slice(from, from + 150) })
    await using tab = await app.open(many)
    const { page } = tab
    await page.goto("/?sort=name")
    const all = vals.map(({ name }) => name)
    await expectNames(page, all.slice(0, 100))
    await page.getByRole("button", { name: "Show more" }).click()
    await expectNames(page, all.slice(0, 200))
    await page.getByLabel("Filter by name").fill("val_0287")
    await expectNames(page, all.slice(287, 288))
    expect(tab.problems).toEqual([])
  })

  test("reports when the server is down, keeps its content, and recovers", async () => {
    const { owner, val } = await makeLucky("dora")
    await runTwice(owner, val)
    await using tab = await app.open(owner)
    const { page } = tab
    await page.context().route("**/v1/**", (route) => route.abort())
    await page.goto("/runs")
    const failure = page.getByRole("alert").filter({ hasText: "The server does not respond" })
    await failure.waitFor()
    await expectNoBarriers(page)
    await page.context().unroute("**/v1/**")
    await failure.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor()
    await page.getByRole("button", { name: "Account of dora" }).waitFor()
    await page.getByText("lucky", { exact: true }).first().waitFor()

    // The whole server is away: one banner says so, and all parts are fetched when it is back.
    await tab.context.setOffline(true)
    await page.getByRole("link", { name: "Home", exact: true }).click()
    await failure.waitFor()
    await expectNoBarriers(page)
    // A part that failed shows the button until the banner is there.
    await eventually(
      () => page.getByRole("button", { name: "Try again" }).count(),
      (count) => expect(count).toBe(0),
    )
    await tab.context.setOffline(false)
    await failure.waitFor({ state: "detached" })
    await row(page, "lucky").waitFor()
    for (const [part, link] of [
      ["Latest runs", /^lucky/],
      ["Liked vals", "dora/lucky"],
    ] as const)
      await page
        .getByRole("region", { name: part })
        .getByRole("link", { name: link })
        .first()
        .waitFor()
    await row(page, "lucky").getByText("Public").click({ force: true })
    await page.waitForURL("**/u/dora/lucky")

    // Only one part fails.
    await page.context().route("**/v1/me/likes*", (route) => route.abort())
    await page.getByRole("link", { name: "Home", exact: true }).click()
    const liked = page.getByRole("region", { name: "Liked vals" })
    await liked.getByRole("alert").waitFor()
    await page.context().unroute("**/v1/me/likes*")
    await liked.getByRole("button", { name: "Try again" }).click()
    await liked.getByRole("link", { name: "dora/lucky" }).waitFor()

    // While the page is open.
    const spark = row(page, "lucky").getByRole("img", { name: "2 runs, 1 failed" })
    await spark.waitFor()
    const latest = page.getByRole("region", { name: "Latest runs" })
    const runs = latest.getByRole("link", { name: /^lucky/ })
    await runs.nth(1).waitFor()
    const refuse = async (part: string) => {
      await page
        .context()
        .route(`**/v1/me/${part}*`, (route) => route.fulfill({ status: 400, json: {} }))
      const refused = () =>
        page.waitForResponse(
          (response) => response.url().includes(`/v1/me/${part}`) && response.status() === 400,
        )
      // After a second poll, the first response has been shown.
      await refused()
      await refused()
    }
    await Promise.all(["runs", "activity"].map(refuse))
    await eventually(
      () => runs.count(),
      (found) => expect(found).toBe(2),
    )
    await eventually(
      () => spark.count(),
      (found) => expect(found).toBe(1),
    )
    expect(await page.getByRole("alert").filter({ hasText: /./ }).count()).toBe(0)
    expect(tab.problems).toEqual([])
  })
})

const lucky = `export default function (luck = 1) {\n  if (luck === 0) throw new Error("no luck")\n  return luck\n}\n`

type Val = Awaited<ReturnType<Person["client"]["getVal"]>>

function row(page: Page, name: string) {
  return page
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name: new RegExp(`^${name}`) }) })
}

function expectNames(page: Page, names: readonly string[]): Promise<unknown> {
  const read = () => page.locator("tbody .table-name").allTextContents()
  return eventually(read, (shown) => expect(shown).toEqual([...names]))
}

/** One run succeeds, one fails. */
async function runTwice({ client }: Person, { id }: Val): Promise<void> {
  for (const luck of [1, 0]) await client.createRun({ val_id: id, args: [luck] })
}

/** The bytes of scripts that a page loads with an empty cache, compressed, without the type service. */
async function weigh(tab: OpenTab, path: string, label: string): Promise<number> {
  await using _ = tab
  const sizes: Promise<number>[] = []
  const { page } = tab
  await page
    .context()
    .route("**/assets/**", (route) =>
      route.continue({ headers: { ...route.request().headers(), "cache-control": "no-cache" } }),
    )
  page.on("requestfinished", (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/assets\/(?!worker-).*\.js$/.test(pathname))
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  await page.goto(path)
  await page
    .getByLabel(label)
    .or(page.getByRole("link", { name: label, exact: true }))
    .first()
    .waitFor()
  await page.waitForLoadState("networkidle")
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(total).toBeGreaterThan(10_000)
  return total
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox()
  if (!box) throw new Error("the element is not visible")
  return box
}

/** The most lines that the port of an address takes. */
function countPortLines(page: Page): Promise<number> {
  return page.locator("a.my-val-place").evaluateAll((places) => {
    const counts = places.map((place) => {
      const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
      const tops = new Set<number>()
      let isPort = false
      for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (const [index, letter] of [...(node.textContent ?? "")].entries()) {
          isPort ||= letter === ":"
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + 1)
          if (isPort) tops.add(Math.round(range.getBoundingClientRect().top))
        }
      return tops.size
    })
    return Math.max(...counts)
  })
}
