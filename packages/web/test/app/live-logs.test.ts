import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"

describeApp("live logs", (app) => {
  /** A user with a val that logs its arguments. */
  async function withVals(username: string) {
    const person = await app.stage.person(username)
    const make = async (name: string) =>
      (await person.client.createVal({ name, code, privacy: "public" })).id
    return { person, says: await make("says"), other: await make("other") }
  }
  const say = (person: Person, val_id: string, ...args: unknown[]) =>
    person.client.createRun({ val_id, args })

  test("follow all runs of the account, and each line leads to its run", async () => {
    const { person, says, other } = await withVals("ada")
    const stranger = await app.stage.person("eve")
    await say(person, says, "log", "before")
    await using tab = await app.open(person)
    const { page } = tab
    await page.goto("/runs")
    await page.getByRole("link", { name: "Live logs" }).click()
    await page.waitForURL("**/runs/live")
    await live(page)
    await expectLines(page, ["says before"])
    await say(stranger, says, "log", "on another account")
    const { id } = await say(person, other, "warn", "after")
    await say(person, says, "throw", "no luck")
    await expectLines(page, ["says before", "other after", "says Run failed: Error: no luck"])
    await expectNoBarriers(page)

    await page.getByLabel("Level").selectOption("error and worse")
    await expectLines(page, ["says Run failed: Error: no luck"])
    await page.getByLabel("Level").selectOption("All levels")
    await page.getByLabel("Val", { exact: true }).fill("other")
    await page.keyboard.press("Enter")
    await page.waitForURL("**/runs/live?val=other")
    await expectLines(page, ["other after"])
    await page.getByRole("log").getByRole("link", { name: "other" }).click()
    await page.waitForURL(`**/runs/${id}`)
    await page.getByRole("heading", { name: "Run of other" }).waitFor()

    await page.keyboard.press("Control+k")
    await page.getByLabel("A val or a command").fill("live")
    await page.getByRole("option", { name: "Live logs", selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Live logs" }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("can be paused: lines that arrive meanwhile are shown afterwards", async () => {
    const { person, says } = await withVals("bob")
    await using tab = await app.open(person)
    const { page } = tab
    await page.goto("/runs/live")
    await page.getByText("Nothing has been logged yet").waitFor()
    await live(page)
    await say(person, says, "log", "one")
    await expectLines(page, ["says one"])
    await page.getByRole("button", { name: "Pause" }).click()
    await say(person, says, "log", "two")
    await page.getByText("1 line waiting").waitFor()
    expect(await lines(page)).toEqual(["says one"])
    await page.getByRole("button", { name: "Resume" }).click()
    await expectLines(page, ["says one", "says two"])
    expect(tab.problems).toEqual([])
  })

  test("continue after a restart of the server, with what was logged in between", async () => {
    const { person, says } = await withVals("grace")
    await using tab = await app.open(person)
    const { page } = tab
    await page.goto("/runs/live")
    await live(page)
    await say(person, says, "log", "before")
    await expectLines(page, ["says before"])
    // While the page cannot reach the server, it does not see what happens there.
    let isAway = true
    await page.route("**/v1/me/logs", (route) => (isAway ? route.abort() : route.continue()))
    await app.stage.restart()
    await page.getByText("connecting…").waitFor()
    await say(person, says, "log", "meanwhile")
    // Lines are written a little late. The page reads them twice, and not after that.
    const written = async () =>
      (await person.client.listMyLogs()).data.map(({ line }) => line.message)
    await eventually(written, (texts) => expect(texts).toContain("meanwhile"))
    isAway = false
    await live(page)
    await say(person, says, "log", "after")
    await expectLines(page, ["says before", "says meanwhile", "says after"])
  })
})

const code = `export default function (level: "log" | "warn" | "throw", text: string) {
  if (level === "throw") throw new Error(text)
  console[level](text)
}\n`

/** Waits until new lines are sent to the page. */
function live(page: Page): Promise<void> {
  return page.getByRole("status").getByText("live", { exact: true }).waitFor()
}

/** The val and the text of each line. */
function lines(page: Page): Promise<readonly string[]> {
  return page
    .locator(".log-line")
    .evaluateAll((all) =>
      all.map((line) =>
        [".log-origin", ".log-text"].map((part) => line.querySelector(part)?.textContent).join(" "),
      ),
    )
}

function expectLines(page: Page, expected: readonly string[]): Promise<unknown> {
  return eventually(
    () => lines(page),
    (found) => expect(found).toEqual([...expected]),
  )
}
