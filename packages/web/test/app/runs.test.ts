import { beforeAll, expect, test } from "bun:test"
import { readFile } from "node:fs/promises"
import type { BrowserContextOptions, Locator, Page, Route } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"

describeApp("runs", (app) => {
  let ada: Person
  let ids: Readonly<Record<(typeof mine)[number], string>>
  beforeAll(async () => {
    ada = await app.stage.person("ada")
    ids = await makeVals(ada, mine)
  })
  const open = (options?: BrowserContextOptions) => app.open(ada, options)

  test("are filtered by the address, counted over time, and appear by themselves", async () => {
    const grace = await app.stage.person("grace")
    const ids = await makeVals(grace, ["lucky", "page"])
    const { client } = grace
    for (const luck of [1, 2, 0]) await client.createRun({ val_id: ids.lucky, args: [luck] })
    const { links } = await client.getVal({ val_id: ids.page })
    await (await fetch(links.endpoint ?? "")).text()
    await using tab = await app.open(grace)
    const { page } = tab
    await page.goto("/runs")
    await expectRows(page, [
      "GET / → 203 page",
      "API call → failed lucky",
      "API call succeeded lucky",
      "API call succeeded lucky",
    ])
    const charts = page.getByRole("region", { name: "Runs over time" })
    await charts.getByRole("img", { name: "4 runs, 1 failed" }).waitFor()
    await charts
      .getByRole("img", { name: /^Median [\d.]+ m?s, 95th percentile [\d.]+ m?s/ })
      .waitFor()
    for (const bar of [".spark-bar", ".spark-error", ".chart-p50", ".chart-p95"])
      await eventually(
        () => countSeen(page, `svg ${bar}`),
        (count) => expect(count).toBeGreaterThan(0),
      )

    await page.getByLabel("Val", { exact: true }).fill("page")
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.search === "?val=page")
    await expectRows(page, ["GET / → 203 page"])
    await page.getByLabel("Val", { exact: true }).fill("nothing")
    await page.keyboard.press("Enter")
    await page.getByText("No run matches").waitFor()
    await page.getByLabel("Val", { exact: true }).fill("")
    await page.keyboard.press("Enter")
    await page.locator(".run-row").nth(3).waitFor()

    await page.getByLabel("Status").selectOption("Any failure")
    await expectRows(page, ["API call → failed lucky"])
    await page.getByLabel("Status").selectOption("Any status")
    await page.getByLabel("Source").selectOption("Web address")
    await expectRows(page, ["GET / → 203 page"])
    await page.getByLabel("Period").selectOption("Last hour")
    await page.waitForURL((url) => url.search === "?source=http&period=1h")
    await page.reload()
    await expectRows(page, ["GET / → 203 page"])

    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
    await (await fetch(links.endpoint ?? "")).text()
    await expectRows(page, ["GET / → 203 page", "GET / → 203 page"])
    await charts.getByRole("img", { name: "5 runs, 1 failed" }).waitFor()
    await client.createRun({ val_id: ids.lucky, args: [7] })
    await charts.getByRole("img", { name: "6 runs, 1 failed" }).waitFor()
    // By now the list has been polled again too.
    for (const _ of ["again", "once more"])
      await page.waitForResponse((response) => response.url().includes("/v1/me/runs?"))
    expect(await rows(page)).toEqual(["GET / → 203 page", "GET / → 203 page"])
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true)
    expect(tab.problems).toEqual([])
  })

  test("are found by status and text, and the field keeps the focus", async () => {
    const hedy = await app.stage.person("hedy")
    const { client } = hedy
    const vals = await makeVals(hedy, ["lucky", "page"])
    for (const luck of [7, 0]) await client.createRun({ val_id: vals.lucky, args: [luck] })
    const { links } = await client.getVal({ val_id: vals.page })
    await (await fetch(`${links.endpoint}/Some/Place`)).text()
    await using tab = await app.open(hedy)
    const { page } = tab
    await page.goto("/runs")
    const all = [
      "GET /Some/Place → 203 page",
      "API call → failed lucky",
      "API call succeeded lucky",
    ]
    await expectRows(page, all)
    const text = page.getByLabel("Search the runs")
    for (const [typed, found] of [
      ["some/pl", [0]],
      ["luck 7", [2]],
    ] as const) {
      await text.fill("")
      await text.pressSequentially(typed)
      await page.waitForURL((url) => url.searchParams.get("text") === typed)
      await expectRows(
        page,
        found.map((index) => all[index] ?? ""),
      )
      expect(await text.evaluate((field) => field === document.activeElement)).toBe(true)
    }
    await page.getByLabel("Status").selectOption("Succeeded")
    await page.waitForURL((url) => url.search === "?text=luck+7&status=succeeded")
    await page.reload()
    await expectRows(page, [all[2] ?? ""])
    await eventually(
      () => text.inputValue(),
      (value) => expect(value).toBe("luck 7"),
    )
    await page.getByLabel("Status").selectOption("Timed out")
    await page.getByText("No run matches").waitFor()
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await page.waitForURL((url) => url.search === "")
    await expectRows(page, all)
    await eventually(
      () => text.inputValue(),
      (value) => expect(value).toBe(""),
    )

    await page.goto("/u/hedy/lucky/runs?status=failed")
    await expectRows(page, ["API call → failed "])
    await page.getByLabel("Search the runs").fill("luck 7")
    await page.getByText("No run matches").waitFor()
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await expectRows(page, ["API call → failed ", "API call succeeded "])
    expect(tab.problems).toEqual([])
  })

  test("are searched further back, page by page, and the matches stay", async () => {
    await using tab = await open()
    const { page } = tab
    const { id } = await ada.client.createRun({ val_id: ids.lucky, args: [3] })
    const run = await ada.client.getRun({ run_id: id })
    // A page of the API looks at thousands of runs, so the responses are made here.
    const polls: string[] = []
    await page.route("**/v1/me/runs?*", async (route) => {
      const url = new URL(route.request().url())
      const cursor = url.searchParams.get("cursor")
      polls.push(cursor ?? "")
      const at = ["", "one", "two"].indexOf(cursor ?? "")
      url.searchParams.set("cursor", ["one", "two"][at] ?? "")
      const links = { self: url.href, ...(at < 2 ? { next: url.href } : {}) }
      await route.fulfill({ json: { data: at === 1 ? [run] : [], links } })
    })
    await page.goto("/runs?text=luck")
    await page.getByText("None of the latest runs matches").waitFor()
    await page.getByRole("button", { name: "Search older runs" }).click()
    await expectRows(page, ["API call succeeded lucky"])
    const before = polls.length
    await eventually(
      () => polls.slice(before).filter((cursor) => cursor === "").length,
      (count) => expect(count).toBeGreaterThan(1),
    )
    expect(await rows(page)).toEqual(["API call succeeded lucky"])
    await page.getByRole("button", { name: "Search older runs" }).click()
    await page.getByRole("button", { name: "Search older runs" }).waitFor({ state: "detached" })
    expect(polls).toContain("two")
    expect(await rows(page)).toEqual(["API call succeeded lucky"])
    expect(tab.problems).toEqual([])
  })

  test("of ad-hoc code have no link to a val, and cannot be replayed", async () => {
    const barbara = await app.stage.person("barbara")
    await barbara.client.evalCode({ code: "export default () => 1" })
    await using tab = await app.open(barbara)
    const { page } = tab
    await page.goto("/runs")
    await expectRows(page, ["Code without a val succeeded eval"])
    expect(await page.locator(".run-row").textContent()).not.toContain("v0")
    await page.getByRole("button", { name: "Code without a val" }).click()
    await page.getByRole("link", { name: "Open the run" }).click()
    const title = page.getByRole("heading", { name: "Run of eval" })
    await title.waitFor()
    expect(await title.getByRole("link").count()).toBe(0)
    expect(await page.locator(".facts a").count()).toBe(0)
    expect(await page.getByRole("button", { name: "Replay" }).count()).toBe(0)
    expect(tab.problems).toEqual([])
  })

  test("that failed link to the line of code, and can be replayed", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.lucky, args: [0] })
    await using tab = await open()
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const failure = page.getByRole("alert").filter({ hasText: "Error: no luck" })
    await failure.getByRole("link", { name: "ada/lucky.tsx:3" }).click()
    await page.waitForURL("**/u/ada/lucky?line=3")
    await page.locator(".cm-activeLine").filter({ hasText: "throw new Error" }).waitFor()
    await page.goBack()
    await page.getByRole("button", { name: "Replay", exact: true }).click()
    await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(id))
    await page.getByRole("alert").filter({ hasText: "Error: no luck" }).waitFor()
    await eventually(
      () => ada.client.getRun({ run_id: page.url().split("/").at(-1) ?? "" }),
      ({ status, args }) => expect({ status, args }).toEqual({ status: "failed", args: [0] }),
    )
    const facts = page.locator(".facts > div").filter({ hasText: "Replay of" })
    await facts.getByRole("link", { name: id.slice(-8) }).click()
    await page.waitForURL(`**/runs/${id}`)
    expect(tab.problems).toEqual([])
  })

  test("are replayed with other arguments, and problems appear at their fields", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.lucky, args: [0] })
    await using tab = await open()
    const { page } = tab
    await page.goto("/runs?val=lucky")
    const row = page.locator(".run-row").first()
    await row.locator(".run-time").click()
    await row.getByRole("button", { name: "Replay with changes…" }).click()
    const dialog = page.getByRole("dialog", { name: "Replay with changes" })
    const args = dialog.getByLabel("Arguments")
    await eventually(
      () => args.inputValue(),
      (value) => expect(value).toBe("[\n  0\n]"),
    )
    await expectNoBarriers(page)
    const send = dialog.getByRole("button", { name: "Replay", exact: true })
    const problem = async (field: Locator, text: string) => {
      await send.click()
      await dialog.getByRole("alert").filter({ hasText: text }).waitFor()
      await eventually(
        () => field.getAttribute("aria-invalid"),
        (value) => expect(value).toBe("true"),
      )
    }
    await args.fill("[7")
    await problem(args, "they are not JSON")
    await args.fill(`[${"[".repeat(120)}${"]".repeat(120)}]`)
    await problem(args, "levels")
    await args.fill("[7]")
    await dialog.getByLabel("Version").fill("99")
    await problem(dialog.getByLabel("Version"), "no version 99")
    await dialog.getByLabel("Version").fill("1")
    await send.click()
    await page.waitForURL((url) => /^\/runs\/[\w-]{36}$/.test(url.pathname))
    await page
      .getByRole("definition")
      .getByRole("link", { name: id.slice(-8) })
      .waitFor()
    await page.locator(".page-head").getByText("Succeeded").waitFor()
    const again = await ada.client.getRun({ run_id: page.url().split("/").at(-1) ?? "" })
    expect(again).toMatchObject({ args: [7], returnValue: 7, parentId: id })
    expect(tab.problems).toEqual([])
  })

  test("are replayed with another request, with credentials that are not kept", async () => {
    const { mirror } = await makeVals(ada, ["mirror"])
    const { links } = await ada.client.getVal({ val_id: mirror })
    const headers = { "content-type": "text/plain", cookie: "login=1" }
    await (await fetch(`${links.endpoint}/a?b=c`, { method: "POST", headers, body: "one" })).text()
    await using tab = await open()
    const { page } = tab
    await page.goto("/u/ada/mirror/runs")
    await page.locator(".run-head").first().click()
    await page.getByRole("link", { name: "Open the run" }).click()
    await page.getByRole("heading", { name: "Run of mirror" }).waitFor()
    await page.getByRole("button", { name: "Replay with changes…" }).click()
    const dialog = page.getByRole("dialog", { name: "Replay with changes" })
    const field = (label: string) => dialog.getByLabel(label)
    expect([
      await field("Method").inputValue(),
      await field("Path").inputValue(),
      await field("Body").inputValue(),
    ]).toEqual(["POST", "/a?b=c", "one"])
    const kept = await field("Headers").inputValue()
    expect(kept).toContain("content-type: text/plain")
    expect(kept).not.toContain("login=1")
    await dialog.getByText("are not kept with a run").waitFor()
    const send = dialog.getByRole("button", { name: "Replay", exact: true })
    await field("Path").fill("elsewhere")
    await field("Headers").fill("no header")
    await send.click()
    await dialog
      .getByRole("alert")
      .filter({ hasText: 'Cannot read the header "no header"' })
      .waitFor()
    await field("Headers").fill("x-mine: two\ncookie: login=2")
    await send.click()
    await dialog.getByRole("alert").filter({ hasText: "must start with /" }).waitFor()
    await field("Path").fill("/x?y=z")
    await field("Method").selectOption("PUT")
    await field("Body").fill("two")
    await send.click()
    await dialog.waitFor({ state: "detached" })
    const facts = page.getByRole("definition")
    await facts.getByText(`PUT ${links.endpoint}/x?y=z`, { exact: true }).waitFor()
    await page.locator(".facts > div").filter({ hasText: "Replay of" }).waitFor()
    const body = page.getByRole("region", { name: "Body of the response" })
    await eventually(
      () => body.textContent(),
      (shown) => expect(shown).toBe("PUT /x?y=z two login=2 two"),
    )
    const again = await ada.client.getRun({ run_id: page.url().split("/").at(-1) ?? "" })
    expect(again.requestContent?.headers).toEqual([["x-mine", "two"]])

    await page.getByRole("button", { name: "Replay with changes…" }).click()
    await field("Method").selectOption("GET")
    expect(await field("Body").count()).toBe(0)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect(tab.problems).toEqual([])
  })

  test("show the request, the response and the outgoing requests", async () => {
    // A separate val, so that it has only one run.
    const { links } = await ada.client.createVal({
      name: "called",
      code: codes.page,
      type: "http",
      privacy: "public",
    })
    await (await fetch(`${links.endpoint}/some/path?q=1`, { method: "POST", body: "x" })).text()
    await using tab = await open()
    const { page } = tab
    await page.goto("/runs")
    const row = page.getByRole("listitem").filter({ hasText: "called" })
    await row.getByText("POST /some/path?q=1 → 203").waitFor()
    // The whole row opens it.
    await row.locator(".run-time").click()
    const sentBody = row.getByRole("region", { name: "Body of the request" })
    await eventually(
      () => sentBody.textContent(),
      (found) => expect(found).toBe("x"),
    )
    const received = row.getByRole("region", { name: "Response" })
    const body = received.getByRole("region", { name: "Body of the response" })
    await eventually(
      () => body.textContent(),
      (found) => expect(found).toBe("hello"),
    )
    await received.getByText(/^\d+ headers?$/).click()
    await received.getByText("text/plain;charset=UTF-8").waitFor()
    await row.getByRole("link", { name: "Open the run" }).click()
    await page.getByRole("heading", { name: "Run of called" }).waitFor()
    const facts = page.getByRole("definition")
    await facts.getByText(`POST ${links.endpoint}/some/path?q=1`, { exact: true }).waitFor()
    await facts.getByText("203", { exact: true }).waitFor()
    const sent = page.getByRole("region", { name: "Outgoing requests" }).getByRole("row").nth(1)
    await sent
      .filter({ hasText: /GET http:\/\/10\.0\.0\.1\/secret.*private address.*blocked/ })
      .waitFor()
    expect(tab.problems).toEqual([])
  })

  test("have logs that are searched, copied and downloaded", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.talks })
    await using tab = await open({ permissions: ["clipboard-read", "clipboard-write"] })
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const log = page.getByRole("log", { name: "Logged lines" })
    await eventually(
      () => log.locator(".log-text").allTextContents(),
      (found) =>
        expect(found).toEqual(["line one", "a Warning\nof two lines", "an error", "line four"]),
    )
    await page.getByLabel("Level").selectOption("warn and worse")
    await page.getByText("2 of 4 lines").waitFor()
    await page.getByLabel("Search the logs").fill("WARN")
    await page.getByText("1 of 4 lines").waitFor()
    await eventually(
      () => log.locator(".log-text").allTextContents(),
      (found) => expect(found).toEqual(["a Warning\nof two lines"]),
    )
    await seeNote(page, "Copied", () => page.getByRole("button", { name: "Copy the logs" }).click())
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toMatch(/^\d{4}-\S+Z warn a Warning\nof two lines\n$/)
    await page.getByLabel("Search the logs").fill("")
    await page.getByText("2 of 4 lines").waitFor()
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download the logs" }).click(),
    ])
    expect(file.suggestedFilename()).toBe("logs.txt")
    const text = await readFile(await file.path(), "utf8")
    expect(text.replaceAll(/^\S+Z /gm, "")).toBe("warn a Warning\nof two lines\nerror an error\n")
    expect(tab.problems).toEqual([])
  })

  test("that are running show their log, and can be cancelled", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.ticks }, { respondAsync: true })
    await using tab = await open()
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const log = page.getByRole("log", { name: "Logged lines" })
    // Only visible lines are rendered, and the view follows the end.
    await log.locator(".log-text").first().waitFor()
    const seen = Number((await log.locator(".log-text").last().textContent())?.split(" ")[1])
    await page.waitForFunction(
      (least) =>
        Number([...document.querySelectorAll(".log-text")].at(-1)?.textContent?.split(" ")[1]) >=
        least,
      seen + 5,
    )
    await page.locator(".page-head").getByText("Running").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.locator(".page-head").getByText("Cancelled").waitFor()
    await page.getByRole("button", { name: "Replay", exact: true }).waitFor()
    expect(await log.locator(".log-text").count()).toBeGreaterThan(0)
    expect((await ada.client.getRun({ run_id: id })).status).toBe("cancelled")
    expect(tab.problems).toEqual([])
  })

  for (const name of ["ticks", "silent"] as const) {
    test(`that waited when the page was opened show that they have begun (${name})`, async () => {
      const { id } = await ada.client.createRun({ val_id: ids[name] }, { respondAsync: true })
      await using tab = await open()
      const { page } = tab
      // Only the first response is changed: it shows a queued run, even when this machine is too
      // fast for that.
      const showQueued = async (route: Route) => {
        const run = await (await route.fetch()).json()
        await route.fulfill({ json: { ...run, status: "queued", logs: [] } })
      }
      await page.route(`**/v1/runs/${id}`, showQueued, { times: 1 })
      await page.goto(`/runs/${id}`)
      await page.locator(".page-head").getByText("Running").waitFor()
      await page.getByRole("button", { name: "Cancel" }).click()
      await page.locator(".page-head").getByText("Cancelled").waitFor()
      expect(tab.problems).toEqual([])
    })
  }

  test("render only the visible ones of ten thousand log lines", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.talks })
    await using tab = await open()
    const { page } = tab
    // More lines than the server keeps: the response is extended on its way.
    await page.route(`**/v1/runs/${id}`, async (route) => {
      const run = await (await route.fetch()).json()
      const logs = Array.from({ length: 10_000 }, (_, index) => ({
        ...run.logs[0],
        message: `row ${index}`,
      }))
      await route.fulfill({ json: { ...run, logs } })
    })
    await page.goto(`/runs/${id}`)
    const log = page.getByRole("log", { name: "Logged lines" })
    await log.getByText("row 0", { exact: true }).waitFor()
    await page.getByText("10,000 lines").waitFor()
    expect(await log.locator("*").count()).toBeLessThan(600)
    await log.focus()
    await page.keyboard.press("End")
    await log.getByText("row 9999", { exact: true }).waitFor()
    expect(await log.locator("*").count()).toBeLessThan(600)
    expect(await log.getByText("row 0", { exact: true }).count()).toBe(0)
    await page.getByLabel("Search the logs").fill("row 987")
    await page.getByText("11 of 10,000 lines").waitFor()
    await log.getByText("row 9879", { exact: true }).waitFor()
    await eventually(
      () => log.locator(".log-line").count(),
      (count) => expect(count).toBe(11),
    )
    expect(tab.problems).toEqual([])
  })
})

/** The vals that most tests share. */
const mine = ["lucky", "talks", "silent", "ticks"] as const

const codes = {
  lucky: `export default function (luck: number) {\n  console.log("luck", luck)\n  if (luck === 0) throw new Error("no luck")\n  return luck\n}\n`,
  page: `export default async function () {
  await fetch("http://10.0.0.1/secret").catch(() => {})
  return new Response("hello", { status: 203 })
}\n`,
  mirror: `export default async function (request: Request) {
  const { pathname, search } = new URL(request.url)
  const sent = [await request.text(), request.headers.get("cookie"), request.headers.get("x-mine")]
  return new Response([request.method, pathname + search, ...sent].join(" "))
}\n`,
  talks: `export default function () {
  console.log("line one")
  console.warn("a Warning\\nof two lines")
  console.error("an error")
  console.log("line four")
}\n`,
  silent: "export default () => new Promise((resolve) => setTimeout(resolve, 500_000))\n",
  ticks: `export default async function () {
  for (let tick = 1; ; tick += 1) {
    console.log("tick", tick)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}\n`,
}

/** Creates a val for each code. */
async function makeVals<Name extends keyof typeof codes>(
  { client }: Person,
  names: readonly Name[],
): Promise<Readonly<Record<Name, string>>> {
  const make = async (name: Name) => {
    const type = name === "page" || name === "mirror" ? "http" : "script"
    const { id } = await client.createVal({ name, code: codes[name], type, privacy: "public" })
    return [name, id] as const
  }
  return Object.fromEntries(await Promise.all(names.map(make))) as Record<Name, string>
}

function expectRows(page: Page, expected: readonly string[]): Promise<unknown> {
  return eventually(
    () => rows(page),
    (found) => expect(found).toEqual([...expected]),
  )
}

/** Title, result and val of each row. */
async function rows(page: Page): Promise<readonly string[]> {
  return page
    .locator(".run-row")
    .evaluateAll((all) =>
      all.map((row) =>
        [".run-title", ".run-val"].map((part) => row.querySelector(part)?.textContent).join(" "),
      ),
    )
}

/** The number of bars with a height. */
function countSeen(page: Page, selector: string): Promise<number> {
  return page
    .locator(selector)
    .evaluateAll((all) => all.filter((shape) => Number(shape.getAttribute("height")) > 0).length)
}
