import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { type AppStage, openAppStage, openTab, type Person } from "../../dev/app-stage.ts"
import { startBrowser } from "../../dev/browser.ts"

const browser: Browser | undefined = await startBrowser()

describe.skipIf(!browser)("runs", () => {
  let stage: AppStage
  let ada: Person
  let ids: Readonly<Record<keyof typeof codes, string>>
  beforeAll(async () => {
    stage = await openAppStage()
    ada = await stage.person("ada")
    const made = await Promise.all(
      Object.entries(codes).map(async ([name, code]) => {
        const { id } = await ada.client.createVal({ name, code, type: name === "page" ? "http" : "script", privacy: "public" })
        return [name, id] as const
      }),
    )
    ids = Object.fromEntries(made) as typeof ids
  }, 90_000)
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
    await browser?.close()
  })
  const open = (options?: Parameters<typeof openTab>[3]) => openTab(browser as Browser, stage, ada, options)

  test("are filtered by what the address says, counted over time, and appear by themselves", async () => {
    const { client } = ada
    for (const luck of [1, 2, 0]) await client.createRun({ val_id: ids.lucky, args: [luck] })
    const { links } = await client.getVal({ val_id: ids.page })
    await (await fetch(links.endpoint ?? "")).text()
    await using tab = await open()
    const { page } = tab
    await page.goto("/runs")
    await page.locator("tbody tr").nth(3).waitFor()
    expect(await rows(page)).toEqual(["Succeeded page Web", "Failed lucky API", "Succeeded lucky API", "Succeeded lucky API"])
    const charts = page.getByRole("region", { name: "Runs over time" })
    await charts.getByRole("img", { name: "4 runs, 1 failed" }).waitFor()
    await charts.getByRole("img", { name: /^Median [\d.]+ m?s, 95th percentile [\d.]+ m?s/ }).waitFor()
    for (const bar of [".spark-bar", ".spark-error", ".chart-p50", ".chart-p95"])
      expect(await countSeen(page, `svg ${bar}`)).toBeGreaterThan(0)

    await page.getByLabel("Val", { exact: true }).fill("page")
    await page.keyboard.press("Enter")
    await page.locator("tbody tr").nth(1).waitFor({ state: "detached" })
    expect(await rows(page)).toEqual(["Succeeded page Web"])
    expect(new URL(page.url()).search).toBe("?val=page")
    await page.getByLabel("Val", { exact: true }).fill("nothing")
    await page.keyboard.press("Enter")
    await page.getByText("No run is like that").waitFor()
    await page.getByLabel("Val", { exact: true }).fill("")
    await page.keyboard.press("Enter")
    await page.locator("tbody tr").nth(3).waitFor()

    await page.getByLabel("Outcome").selectOption("Failed")
    await page.locator("tbody tr").nth(1).waitFor({ state: "detached" })
    expect(await rows(page)).toEqual(["Failed lucky API"])
    await page.getByLabel("Outcome").selectOption("Any outcome")
    await page.getByLabel("Source").selectOption("Web address")
    await page.getByRole("row", { name: "page" }).waitFor()
    await page.getByRole("row", { name: "lucky" }).first().waitFor({ state: "detached" })
    await page.getByLabel("Period").selectOption("Last hour")
    expect(new URL(page.url()).search).toBe("?source=http&period=1h")
    await page.reload()
    await page.locator("tbody tr").first().waitFor()
    expect(await rows(page)).toEqual(["Succeeded page Web"])

    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
    await (await fetch(links.endpoint ?? "")).text()
    await page.locator("tbody tr").nth(1).waitFor()
    await charts.getByRole("img", { name: "5 runs, 1 failed" }).waitFor()
    await client.createRun({ val_id: ids.lucky, args: [7] })
    await charts.getByRole("img", { name: "6 runs, 1 failed" }).waitFor()
    expect(await rows(page)).toEqual(["Succeeded page Web", "Succeeded page Web"])
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true)
    expect(tab.problems).toEqual([])
  })

  test("that failed lead to the line of the code, and can be replayed", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.lucky, args: [0] })
    await using tab = await open()
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const failure = page.getByRole("alert").filter({ hasText: "Error: no luck" })
    await failure.getByRole("link", { name: "ada/lucky.tsx:3" }).click()
    await page.waitForURL("**/u/ada/lucky?line=3")
    await page.locator(".cm-activeLine").filter({ hasText: "throw new Error" }).waitFor()
    await page.goBack()
    await page.getByRole("button", { name: "Replay" }).click()
    await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(id))
    await page.getByRole("alert").filter({ hasText: "Error: no luck" }).waitFor()
    const again = await ada.client.getRun({ run_id: page.url().split("/").at(-1) ?? "" })
    expect({ status: again.status, args: again.args }).toEqual({ status: "failed", args: [0] })
    expect(tab.problems).toEqual([])
  })

  test("show what was asked, what was answered and what was sent out", async () => {
    const { links } = await ada.client.getVal({ val_id: ids.page })
    await (await fetch(`${links.endpoint}/some/path?q=1`, { method: "POST", body: "x" })).text()
    await using tab = await open()
    const { page } = tab
    await page.goto("/runs")
    await page.getByRole("link", { name: "page" }).first().click()
    await page.getByRole("heading", { name: "Run of page" }).waitFor()
    const facts = await page.getByRole("definition").allTextContents()
    expect(facts).toContain(`POST ${links.endpoint}/some/path?q=1`)
    expect(facts).toContain("203")
    const sent = page.getByRole("region", { name: "Outgoing requests" }).getByRole("row").nth(1)
    expect(await sent.textContent()).toMatch(/GET http:\/\/10\.0\.0\.1\/secret.*private address.*blocked/)
    expect(tab.problems).toEqual([])
  })

  test("have logs that are searched, copied and downloaded", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.talks })
    await using tab = await open({ permissions: ["clipboard-read", "clipboard-write"] })
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const log = page.getByRole("log", { name: "Logged lines" })
    await log.getByText("an error").waitFor()
    expect(await log.locator(".log-text").allTextContents()).toEqual(["line one", "a Warning\nof two lines", "an error", "line four"])
    await page.getByLabel("Level").selectOption("warn and worse")
    await page.getByText("2 of 4 lines").waitFor()
    await page.getByLabel("Search the logs").fill("WARN")
    await page.getByText("1 of 4 lines").waitFor()
    expect(await log.locator(".log-text").allTextContents()).toEqual(["a Warning\nof two lines"])
    await page.getByRole("button", { name: "Copy the logs" }).click()
    await page.getByText("Copied").waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toMatch(/^\d{4}-\S+Z warn a Warning\nof two lines\n$/)
    await page.getByLabel("Search the logs").fill("")
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the logs" }).click()])
    expect(file.suggestedFilename()).toBe("logs.txt")
    const text = await readFile(await file.path(), "utf8")
    expect(text.replaceAll(/^\S+Z /gm, "")).toBe("warn a Warning\nof two lines\nerror an error\n")
    expect(tab.problems).toEqual([])
  })

  test("that go on show what they log, and can be cancelled", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.ticks }, { respondAsync: true })
    await using tab = await open()
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const log = page.getByRole("log", { name: "Logged lines" })
    // Only the lines that are seen are there, and the list follows its end.
    await log.locator(".log-text").first().waitFor()
    const seen = Number((await log.locator(".log-text").last().textContent())?.split(" ")[1])
    await page.waitForFunction(
      (least) => Number([...document.querySelectorAll(".log-text")].at(-1)?.textContent?.split(" ")[1]) >= least,
      seen + 5,
    )
    await page.locator(".page-head").getByText("Running").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.locator(".page-head").getByText("Cancelled").waitFor()
    await page.getByRole("button", { name: "Replay" }).waitFor()
    expect(await log.locator(".log-text").count()).toBeGreaterThan(0)
    expect((await ada.client.getRun({ run_id: id })).status).toBe("cancelled")
    expect(tab.problems).toEqual([])
  })

  test("draw only those of ten thousand lines that are seen", async () => {
    const { id } = await ada.client.createRun({ val_id: ids.talks })
    await using tab = await open()
    const { page } = tab
    // More than the server keeps of a run today: its answer is made longer on the way.
    await page.route(`**/v1/runs/${id}`, async (route) => {
      const run = await (await route.fetch()).json()
      const logs = Array.from({ length: 10_000 }, (_, index) => ({ ...run.logs[0], message: `row ${index}` }))
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
    expect(await log.locator(".log-line").count()).toBe(11)
    expect(tab.problems).toEqual([])
  })
})

const codes = {
  lucky: `export default function (luck: number) {\n  console.log("luck", luck)\n  if (luck === 0) throw new Error("no luck")\n  return luck\n}\n`,
  page: `export default async function () {
  await fetch("http://10.0.0.1/secret").catch(() => {})
  return new Response("hello", { status: 203 })
}\n`,
  talks: `export default function () {
  console.log("line one")
  console.warn("a Warning\\nof two lines")
  console.error("an error")
  console.log("line four")
}\n`,
  ticks: `export default async function () {
  for (let tick = 1; ; tick += 1) {
    console.log("tick", tick)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}\n`,
}

/** Status, val and source of each row. */
async function rows(page: Page): Promise<readonly string[]> {
  return page
    .locator("tbody tr")
    .evaluateAll((all) =>
      all.map((row) => [".status", ".table-name", "td:nth-child(4)"].map((part) => row.querySelector(part)?.textContent).join(" ")),
    )
}

/** How many of those shapes have a height. */
function countSeen(page: Page, selector: string): Promise<number> {
  return page.locator(selector).evaluateAll((all) => all.filter((shape) => Number(shape.getAttribute("height")) > 0).length)
}
