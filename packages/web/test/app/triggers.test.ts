import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"
import { findEditor, makeVal, replaceText } from "../support/val-page.ts"

/** Everything that starts vals by itself. */
describeApp("schedules, mail and webhooks", (app) => {
  test("a schedule is explained while it is typed, saved, paused and removed", async () => {
    const { admin } = app.stage
    const val = await makeVal(admin, { code: `console.log("tick")`, type: "interval" })
    await using tab = await app.open(admin, { timezoneId: "America/New_York" })
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto(val.path)
    // What makes the val run is beside the code at first; a run takes its place.
    await page.getByText("No schedule", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".side-pane .status").getByText("Succeeded").waitFor()
    await page.getByRole("link", { name: "Schedule", exact: true }).click()
    const meaning = page.getByRole("status")
    const times = page.getByRole("region", { name: "The next times" })
    await expectTimes(page, 10)
    await page.getByRole("button", { name: "Cron" }).click()
    const field = page.getByLabel("Cron expression")
    await field.fill("0 9 * * 1-5")
    // The browser's own time zone is offered first.
    await meaning.getByText(/weekday at 09:00 in America\/New_York/).waitFor()
    await page.getByLabel("Time zone").selectOption("Europe/Berlin")
    await meaning.getByText(/weekday at 09:00 in Europe\/Berlin/).waitFor()
    await expectTimes(page, 10)
    await eventually(
      () => times.locator(".next-time").first().textContent(),
      (found) => expect(found).toMatch(/^09:00 CES?T$/),
    )
    await field.fill("0 25 * * *")
    await page
      .getByRole("alert")
      .filter({ hasText: /^This is not a cron expression/ })
      .waitFor()
    await eventually(
      () => page.getByRole("button", { name: "Save the schedule" }).isDisabled(),
      (found) => expect(found).toBe(true),
    )
    await page.getByRole("button", { name: "on Mondays" }).click()
    await page.getByLabel(/still running/).selectOption({ label: "Run both at the same time" })
    await page
      .getByLabel(/server was off/)
      .selectOption({ label: "Run once when the server is back" })
    await seeNote(page, "The schedule is saved", () =>
      page.getByRole("button", { name: "Save the schedule" }).click(),
    )
    expect(await admin.client.getSchedule({ val_id: val.id })).toMatchObject({
      cron: "0 9 * * 1",
      timeZone: "Europe/Berlin",
      overlap: "allow",
      catchUp: "one",
      isPaused: false,
    })
    const state = page.getByRole("region", { name: "State of the schedule" })
    await state.getByText("Active", { exact: true }).waitFor()
    await state.getByText("not run yet").waitFor()
    const late = await holdPoll(page, `/v1/vals/${val.id}/schedule`)
    await state.getByRole("button", { name: "Pause" }).click()
    await state.getByText("Paused", { exact: true }).waitFor()
    // The response is older than the pause: it is not shown.
    const seen = await watchText(page, ".schedule-line")
    await late.release()
    expect(await seen()).not.toContain("Active")

    await page.getByRole("link", { name: "Schedules", exact: true }).click()
    const row = page.getByRole("row").filter({ hasText: val.name })
    await row.getByText(/Monday at 09:00/).waitFor()
    await row.getByText("Paused", { exact: true }).waitFor()
    await row.getByText(/Monday at 09:00/).click({ force: true })
    await state.getByRole("button", { name: "Resume" }).click()
    await state.getByText("Active", { exact: true }).waitFor()
    // Due every second: a run starts by itself. No other one waits behind it, and after the pause
    // none follows it, so that its outcome is the last one.
    await page.getByLabel(/still running/).selectOption({ label: "Skip it" })
    await field.fill("* * * * * *")
    await meaning.getByText("Every second").waitFor()
    await page.getByRole("button", { name: "Save the schedule" }).click()
    await state.getByText("not run yet").waitFor({ state: "detached" })
    await state.getByRole("button", { name: "Pause" }).click()
    await state.getByText("Paused", { exact: true }).waitFor()
    await state.getByRole("link", { name: "Succeeded" }).waitFor()
    await state.getByRole("button", { name: "Remove" }).click()
    await state.waitFor({ state: "detached" })
    await page.getByText("No schedule", { exact: true }).waitFor()
    await expect(admin.client.getSchedule({ val_id: val.id })).rejects.toMatchObject({
      code: "schedule_not_found",
    })
    expect(tab.problems).toEqual([])
  })

  test("the next times of a schedule count from its due time", async () => {
    const dora = await app.stage.person("dora")
    const code = "export default 1"
    const val = await dora.client.createVal({ name: "hourly", code, type: "interval" })
    const { nextAt } = await dora.client.putSchedule({ val_id: val.id, every: "1h" })
    await using tab = await app.open(dora)
    await tab.page.goto("/u/dora/hourly/schedule")
    await eventually(
      () => tab.page.locator(".next-times time").first().getAttribute("datetime"),
      (found) => expect(found).toBe(nextAt[0] ?? ""),
    )
  })

  test("a schedule that fails is marked on home, and one that was paused has the reason", async () => {
    const cora = await app.stage.person("cora")
    for (const name of ["fails", "stopped"]) {
      const val = await cora.client.createVal({
        name,
        code: "export default 1",
        type: "interval",
      })
      await cora.client.putSchedule({ val_id: val.id, every: "1d" })
    }
    await cora.client.createVal({ name: "idle", code: "export default 1", type: "interval" })
    await using tab = await app.open(cora)
    const { page } = tab
    // A hundred failures take long: the response has them.
    await page.route("**/v1/me/schedules?*", async (route) => {
      const list = await (await route.fetch()).json()
      const data = list.data.map((schedule: { val: { name: string } }) => ({
        ...schedule,
        failureCount: 12,
        isFailing: true,
        ...(schedule.val.name === "stopped"
          ? { isPaused: true, pausedReason: "Its last 100 runs failed", nextAt: [] }
          : {}),
      }))
      await route.fulfill({ json: { ...list, data } })
    })
    await page.goto("/")
    const failing = page.getByRole("region", { name: "Failing schedules" })
    await failing.getByRole("link", { name: "stopped Paused" }).waitFor()
    await failing.getByRole("link", { name: "fails Failing" }).waitFor()
    const idle = page.getByRole("row").filter({ hasText: "idle" })
    await idle.getByRole("link", { name: "No schedule" }).waitFor()
    await failing.getByRole("link", { name: "All" }).click()
    const row = page.getByRole("row").filter({ hasText: "stopped" })
    await row.getByText("Its last 100 runs failed").waitFor()
    await expectNoBarriers(page)
    expect(tab.problems).toEqual([])
  })

  test("each file has its own schedule and its own mail address", async () => {
    const { admin } = app.stage
    const val = await makeVal(admin, { code: `console.log("tick")`, type: "interval" })
    const { files } = await admin.client.changeFiles({
      val_id: val.id,
      changes: [
        { path: "nightly.ts", type: "interval", content: `console.log("tock")` },
        { path: "inbox.ts", type: "email", content: "export default (mail) => mail.subject" },
      ],
    })
    await using tab = await app.open(admin)
    const { page } = tab
    await page.goto(val.path)
    const choice = page.getByLabel("File that runs")
    await choice.locator("option", { hasText: "nightly.ts · every 1h" }).waitFor({
      state: "attached",
    })
    await choice.selectOption({ label: "nightly.ts · every 1h" })
    await page.getByRole("button", { name: "Cron" }).click()
    await page.getByLabel("Cron expression").fill("30 2 * * *")
    await page.getByLabel("Time zone").selectOption("Europe/Berlin")
    await seeNote(page, "The schedule is saved", () =>
      page.getByRole("button", { name: "Save the schedule" }).click(),
    )
    await eventually(
      () => choice.locator("option:checked").textContent(),
      (label) => expect(label).toBe("nightly.ts · 02:30 Berlin"),
    )
    const of = (file: string) => admin.client.getSchedule({ val_id: val.id, file })
    expect(await of("nightly.ts")).toMatchObject({ cron: "30 2 * * *" })
    expect((await of("main.tsx").catch(({ code }) => code)) as string).toBe("schedule_not_found")
    await page.getByRole("link", { name: "Run now" }).click()
    await page.getByRole("button", { name: "Run now" }).click()
    await page.locator(".side-pane .status").getByText("Succeeded").waitFor()
    // What another file has returned is not shown as this one's.
    await choice.selectOption({ label: "inbox.ts · mail" })
    const inbox = files.find(({ path }) => path === "inbox.ts")
    await page.getByText(`${inbox?.links.email}`).waitFor()
    await page.getByLabel("Subject").fill("Engines")
    await page.getByRole("button", { name: "Send", exact: true }).click()
    await page.locator(".side-pane .status").getByText("Succeeded").waitFor()
    await expectNoBarriers(page)
    const { data } = await admin.client.listValRuns({ val_id: val.id })
    // A new interval file runs once at once.
    const paths = data.map(({ file }) => file?.path)
    expect(paths.toSorted()).toEqual(["inbox.ts", "nightly.ts", "nightly.ts"])
    expect(tab.problems).toEqual([])
  })

  test("a schedule that is saved late is that of its file", async () => {
    const { admin } = app.stage
    const val = await makeVal(admin, { code: `console.log("tick")`, type: "interval" })
    await admin.client.changeFiles({
      val_id: val.id,
      changes: [{ path: "nightly.ts", type: "interval", content: `console.log("tock")` }],
    })
    await admin.client.putSchedule({ val_id: val.id, file: "main.tsx", every: "3h" })
    await using tab = await app.open(admin)
    const { page } = tab
    await page.goto(val.path)
    const choice = page.getByLabel("File that runs")
    await choice.selectOption({ label: "nightly.ts · every 1h" })
    await page.getByLabel("Every", { exact: true }).fill("2h")
    const held = Promise.withResolvers<void>()
    await page.route("**/schedule**", async (route) => {
      if (route.request().method() === "PUT") await held.promise
      await route.continue()
    })
    await Promise.all([
      page.waitForRequest((request) => request.method() === "PUT"),
      page.getByRole("button", { name: "Save the schedule" }).click(),
    ])
    await choice.selectOption({ label: "main.tsx · every 3h" })
    await seeNote(page, "The schedule is saved", async () => held.resolve())
    await eventually(
      () => choice.locator("option").allTextContents(),
      (labels) => expect(labels.sort()).toEqual(["main.tsx · every 3h", "nightly.ts · every 2h"]),
    )
    expect(tab.problems).toEqual([])
  })

  test("a run lists the mails that it sent", async () => {
    const { admin } = app.stage
    const val = await makeVal(admin, {
      code: `import { email } from "/std/email"
export default () => email({ to: "grace@example.org", subject: "Engines", text: "Hello" })`,
    })
    const { id } = await admin.client.createRun({ val_id: val.id })
    await using tab = await app.open(admin)
    const { page } = tab
    await page.goto(`/runs/${id}`)
    const row = page
      .getByRole("region", { name: "Outgoing mail" })
      .getByRole("row")
      .filter({ hasText: "Engines" })
    await row.getByText("to grace@example.org").waitFor()
    // Nothing listens at the port of the mail server.
    await row.getByText("Waiting").waitFor()
    await page.goto("/account")
    await page.getByRole("link", { name: "The mail that your vals" }).click()
    await page.getByRole("button", { name: "Waiting" }).click()
    const listed = page.getByRole("row").filter({ hasText: "Engines" })
    await listed.getByText("to grace@example.org").waitFor()
    await page.getByRole("button", { name: "Failed" }).click()
    await page.getByText("No such mail").waitFor()
    await page.getByRole("button", { name: "All" }).click()
    await listed.getByRole("link", { name: val.name }).click()
    await page.waitForURL(`**/runs/${id}`)
    expect(tab.problems).toEqual([])
  })

  test("an email address is confirmed by a code", async () => {
    await using tab = await app.open(await app.stage.person("dan"))
    const { page } = tab
    await page.goto("/account")
    await page.getByLabel("Email").fill("dan@example.org")
    await seeNote(page, "Saved", () => page.getByRole("button", { name: "Save" }).click())
    const confirmation = page.getByRole("region", { name: "Confirm your address" })
    await confirmation.getByLabel("Code").fill("000 000")
    await confirmation.getByRole("button", { name: "Confirm" }).click()
    await confirmation.getByRole("alert").filter({ hasText: /./ }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("a webhook is created with a secret, tested, looked at, sent again and deleted", async () => {
    const { admin } = app.stage
    const hears = await makeVal(admin, {
      code: `export default (event) => console.log("heard", event.type)`,
    })
    await using tab = await app.open(admin)
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/webhooks")
    await page.getByRole("button", { name: "New webhook" }).click()
    const form = page.getByRole("dialog", { name: "New webhook" })
    await form.getByLabel("Address").fill("http://127.0.0.1/hook")
    await form.getByRole("button", { name: "Create" }).click()
    await form.getByRole("alert").filter({ hasText: /./ }).waitFor()
    await form.getByRole("button", { name: "One of your vals" }).click()
    await form.getByLabel("Val", { exact: true }).fill(hears.name)
    await form.getByRole("checkbox", { name: "val.saved" }).check()
    await form.getByRole("button", { name: "Create" }).click()
    await page.getByText("it is not shown again").waitFor()
    const secret = (await page.locator(".made-text code").textContent()) ?? ""
    expect(secret).toMatch(/^whsec_/)
    await page.reload()
    await page.getByRole("link", { name: `root/${hears.name}` }).click()
    await page.getByRole("heading", { level: 1, name: `root/${hears.name}` }).waitFor()
    expect(await page.content()).not.toContain(secret)

    await page.getByRole("button", { name: "Send a test event" }).click()
    const rows = page.getByRole("row").filter({ has: page.locator(".row-link") })
    await rows.filter({ hasText: "Delivered" }).first().waitFor()
    await admin.client.createVersion({ val_id: hears.id, code: `${hears.code}\n` })
    await rows.filter({ hasText: "val.saved" }).filter({ hasText: "Delivered" }).waitFor()
    await page.getByRole("link", { name: "val.saved" }).click()
    await page.getByRole("heading", { level: 1, name: "val.saved" }).waitFor()
    await page.getByLabel("Request body").getByText('"val.saved"').waitFor()
    await seeNote(page, "The event is sent again", () =>
      page.getByRole("button", { name: "Send again" }).click(),
    )
    await page.getByRole("link", { name: "All deliveries" }).click()

    const choose = async (name: string) => {
      await page.getByRole("button", { name: "More actions" }).click()
      await page.getByRole("menuitem", { name }).click()
    }
    await choose("New secret…")
    await page.getByText("it is not shown again").waitFor()
    await eventually(
      () => page.locator(".made-text code").textContent(),
      (found) => expect(found).not.toBe(secret),
    )
    await choose("Pause")
    await page.locator(".page-head").getByText("Paused", { exact: true }).waitFor()
    await choose("Delete…")
    await page.getByText("No webhooks").waitFor()
    expect(tab.problems).toEqual([])
  })

  test("a val's mail address is copied, and a test message with a file runs it", async () => {
    const { admin } = app.stage
    const val = await makeVal(admin, {
      code: `export default async function (email) {
console.log(email.from, email.subject, email.text, await email.attachments[0].text())
}`,
      type: "email",
      privacy: "unlisted",
    })
    await using tab = await app.open(admin, {
      permissions: ["clipboard-read", "clipboard-write"],
    })
    const { page } = tab
    await page.goto(val.path)
    await seeNote(page, "Copied", () =>
      page.getByRole("button", { name: "Copy the address" }).click(),
    )
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `root.${val.name}@vals.example.com`,
    )
    await page.getByLabel("From").fill("grace@example.org")
    await page.getByLabel("Subject").fill("Engines")
    await page.getByLabel("Text").fill("How are they?")
    const note = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a note") }
    await page.getByLabel("Attachments").setInputFiles(note)
    await page.getByRole("button", { name: "Send", exact: true }).click()
    const outcome = page.locator(".side-pane")
    await outcome.locator(".status").getByText("Succeeded").waitFor()
    const logged = /grace@example\.org.* Engines How are they\?\s+a note/
    await page.getByRole("log").getByText(logged).waitFor()
    await outcome.getByText("Run sends the test message “Engines”").waitFor()
    // The message stays, and Run sends it again: with what was changed in the editor meanwhile.
    await outcome.getByRole("link", { name: "Change it" }).click()
    await page.getByText("Attached: note.txt").waitFor()
    await replaceText(
      page,
      await findEditor(page),
      "export default ({ subject, attachments }) => `${subject}: ${attachments.length} file`",
    )
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await outcome.getByText("Engines: 1 file").waitFor()
    await outcome.getByRole("link", { name: "Open the run" }).click()
    const facts = page.getByRole("region", { name: "Test message" })
    await facts.getByText("Engines", { exact: true }).waitFor()
    const runsFetched: string[] = []
    page.on("request", (request) => {
      if (/\/v1\/runs\//.test(request.url())) runsFetched.push(request.url())
    })
    await page.goto("/mail/incoming")
    const received = page.getByRole("row").filter({ hasText: `test message to ${val.name}` })
    await received.getByRole("link", { name: "Engines" }).first().waitFor()
    // The list has what the rows show.
    expect(runsFetched).toEqual([])
    await expectNoBarriers(page)
    expect(tab.problems).toEqual([])
  })
})

/** Holds the response to the next poll; releasing it waits for the response to the one after it. */
async function holdPoll(page: Page, path: string) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  await page.route(`**${path}?*`, async (route) => {
    if (route.request().method() !== "GET") return route.continue()
    count += 1
    const isFirst = count === 1
    const response = await route.fetch()
    asked.resolve()
    if (isFirst) await released.promise
    await route.fulfill({ response })
  })
  await asked.promise
  return {
    async release() {
      const next = page.waitForResponse(
        (response) =>
          new URL(response.url()).pathname.endsWith(path) && response.request().method() === "GET",
      )
      released.resolve()
      await next
    },
  }
}

/** Records each text of an element from now on. */
async function watchText(page: Page, selector: string): Promise<() => Promise<string>> {
  const handle = await page.evaluateHandle((selector) => {
    const seen: string[] = []
    const look = () => seen.push(document.querySelector(selector)?.textContent ?? "")
    const changes = { subtree: true, childList: true, characterData: true }
    new MutationObserver(look).observe(document.body, changes)
    return seen
  }, selector)
  return () => handle.evaluate((seen) => seen.join("\n"))
}

function expectTimes(page: Page, count: number): Promise<unknown> {
  return eventually(
    () => page.locator(".next-times > li").count(),
    (found) => expect(found).toBe(count),
  )
}
