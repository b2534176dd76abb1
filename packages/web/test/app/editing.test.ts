import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import {
  expectText,
  findEditor,
  findStatus,
  findVersion,
  makeVal,
  replaceText,
} from "../support/val-page.ts"

const tabsMax = 60
/** The time of a page can only be set to a later one. */
const clockMs = 60_000

describeApp("unsaved text", (app) => {
  /** A val in an editor, with unsaved text. */
  async function typeInto(page: Page, path: string, text: string) {
    await page.goto(path)
    const editor = await findEditor(page)
    await replaceText(page, editor, text)
    await findStatus(page, "Unsaved changes").waitFor()
    return editor
  }

  /** Does something that asks for confirmation, and responds. */
  async function respondToDialog(
    page: Page,
    kind: "accept" | "dismiss",
    action: () => Promise<unknown>,
  ): Promise<string> {
    const opened = page.waitForEvent("dialog")
    const done = action()
    const dialog = await opened
    await dialog[kind]()
    await done.catch(() => {})
    return dialog.type()
  }

  test("is kept when the page is left, by a link or by going back, without a question", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    await page.goto("/")
    await page.getByRole("link", { name: val.name, exact: true }).click()
    const editor = await findEditor(page)
    await replaceText(page, editor, "typed")
    page.on("dialog", (dialog) => own.problems.push(dialog.message()))
    await page.goBack()
    await page.getByRole("link", { name: val.name, exact: true }).click()
    await editor.getByText("typed").waitFor()
    await page.getByRole("link", { name: "Explore" }).click()
    await page.waitForURL("**/search")
    await page.goBack()
    await editor.getByText("typed").waitFor()
    expect(own.problems).toEqual([])
  })

  test("is stored when the user pauses, and not with each key", async () => {
    await using own = await app.open(app.stage.admin, {})
    const { page } = own
    const lines = Array.from({ length: 5_000 }, (_, index) => `// line ${index + 1}`)
    const val = await makeVal(app.stage.admin, { code: lines.join("\n") })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await editor.focus()
    const writes = await page.evaluateHandle(() => {
      const writes: string[] = []
      const { setItem } = Storage.prototype
      Storage.prototype.setItem = function (...args) {
        writes.push(args[0])
        return setItem.apply(this, args)
      }
      return writes
    })
    // The clock stands still: there is no pause, however long the keys take.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + clockMs)
    await page.keyboard.type("typed at once")
    await editor.getByText("typed at once").waitFor()
    expect(await writes.jsonValue()).toEqual([])
    await page.clock.resume()
    await waitForStored(page, "typed at once")
    expect(own.problems).toEqual([])
  })

  test("needs a confirmation to be left where the browser cannot store it", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    await page.addInitScript(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError")
      }
    })
    const editor = await typeInto(page, val.path, "typed")
    const leave = () => page.getByRole("link", { name: "Explore" }).click()
    expect(await respondToDialog(page, "dismiss", leave)).toBe("confirm")
    expect(
      await respondToDialog(page, "dismiss", () => page.close({ runBeforeUnload: true })),
    ).toBe("beforeunload")
    await page.waitForURL(`**${val.path}`)
    await expectText(editor, "typed")
    expect(await respondToDialog(page, "accept", leave)).toBe("confirm")
    await page.waitForURL("**/search")
    expect(own.problems).toEqual([])
  })

  test("survives a reload, and can be set aside and restored", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const editor = await typeInto(page, val.path, "typed")
    await page.reload()
    await editor.getByText("typed").waitFor()
    await page.getByText(/This is your unsaved text/).waitFor()
    await page.getByRole("button", { name: "Use the saved version" }).click()
    await editor.getByText("saved").waitFor()
    await page.getByRole("button", { name: "Restore" }).click()
    await editor.getByText("typed").waitFor()
    await editor.press("Control+s")
    await findVersion(page, 2).waitFor()
    await page.reload()
    await editor.getByText("typed").waitFor()
    await expectNoNotice(page)
    expect(own.problems).toEqual([])
  })

  test("of a closed tab is offered in the next one, and not in an open tab", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const other = await context.newPage()
    await typeInto(other, val.path, "typed in the other")
    await waitForStored(other, "typed in the other")
    await page.goto(val.path)
    const editor = await findEditor(page)
    await expectNoNotice(page)
    await other.close()
    await replaceText(page, editor, "typed here")
    await page.reload()
    await page.getByRole("button", { name: "Keep" }).click()
    await page.getByText(/Another tab with unsaved text/).waitFor()
    await page.getByRole("button", { name: "Restore" }).click()
    await editor.getByText("typed in the other").waitFor()
    // The text that was here is set aside.
    await page.getByText(/Your unsaved text was set aside/).waitFor()
    await page.getByRole("button", { name: "Restore" }).click()
    await editor.getByText("typed here").waitFor()
    await editor.press("Control+s")
    await findVersion(page, 2).waitFor()
    expect(own.problems).toEqual([])
  })

  test("of a duplicated tab is separate from that of the original", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const editor = await typeInto(page, val.path, "typed in the first")
    const opened = context.waitForEvent("page")
    // A window that a page opens shares its session storage, as a duplicated tab does.
    await page.evaluate(() => void window.open(location.href))
    const duplicate = await opened
    const twinEditor = await findEditor(duplicate)
    await replaceText(duplicate, twinEditor, "typed in the duplicate")
    await waitForStored(duplicate, "typed in the duplicate")
    await page.reload()
    await editor.getByText("typed in the first").waitFor()
    await duplicate.reload()
    await twinEditor.getByText("typed in the duplicate").waitFor()
    await duplicate.close()
    await editor.press("Control+s")
    await findVersion(page, 2).waitFor()
    expect(own.problems).toEqual([])
  })

  test("in two tabs survives on both sides, with every choice", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const editor = await typeInto(page, val.path, "mine")
    const other = await context.newPage()
    const otherEditor = await typeInto(other, val.path, "theirs")
    await otherEditor.press("Control+s")
    await findVersion(other, 2).waitFor()
    await other.close()
    const dialog = page.getByRole("dialog", { name: "Version 2 was saved elsewhere" })
    await editor.press("Control+s")
    await dialog.getByText("theirs").waitFor()
    await expectNoBarriers(page)
    await dialog.getByRole("button", { name: "Decide later" }).click()
    await expectText(editor, "mine")
    await editor.press("Control+s")
    await dialog.getByRole("button", { name: "Take version 2" }).click()
    await editor.getByText("theirs").waitFor()
    await findVersion(page, 2).waitFor()
    await page.getByRole("button", { name: "Restore" }).click()
    await editor.getByText("mine").waitFor()
    await editor.press("Control+s")
    await dialog.getByRole("button", { name: "Save mine as a new version" }).click()
    await findVersion(page, 3).waitFor()
    const codes = (await app.stage.admin.client.listVersions({ val_id: val.id })).data.map(
      ({ code }) => code,
    )
    expect(codes).toEqual(["mine", "theirs", "saved"])
    expect(own.problems).toEqual([])
  })

  test("stands under a notice when the val is saved elsewhere, before the next save", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const { client } = app.stage.admin
    const val = await makeVal(app.stage.admin, { code: "first" })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await client.createVersion({ val_id: val.id, code: "second" })
    await findStatus(page, "Changed elsewhere").waitFor()
    await page.getByText("Version 2 was saved elsewhere").waitFor()
    await expectText(editor, "first")
    await page.getByRole("button", { name: "Show version 2" }).click()
    await expectText(editor, "second")
    await expectNoNotice(page)
    await replaceText(page, editor, "mine")
    await client.createVersion({ val_id: val.id, code: "third" })
    await page.getByText("Version 3 was saved elsewhere").waitFor()
    await expectNoBarriers(page)
    await page.getByRole("button", { name: "See the difference" }).click()
    const dialog = page.getByRole("dialog", { name: "Version 3 was saved elsewhere" })
    await dialog.getByRole("button", { name: "Save mine as a new version" }).click()
    await findVersion(page, 4).waitFor()
    await expectNoNotice(page)
    expect((await client.getVal({ val_id: val.id })).code).toBe("mine")
    expect(own.problems).toEqual([])
  })

  test("is not run over a version that was saved elsewhere", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    const editor = await typeInto(page, val.path, "export default () => 'mine'")
    await app.stage.admin.client.createVersion({
      val_id: val.id,
      code: "export default () => 'theirs'",
    })
    await editor.press("Control+Enter")
    await page.getByRole("dialog", { name: "Version 2 was saved elsewhere" }).waitFor()
    expect((await app.stage.admin.client.listValRuns({ val_id: val.id })).data).toEqual([])
    await page.keyboard.press("Escape")
    await expectText(editor, "export default () => 'mine'")
    await page.goto("/")
    expect(own.problems).toEqual([])
  })

  test("is saved once when the response is lost, and kept when the server cannot be reached", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const editor = await typeInto(page, val.path, "typed")
    const saves = `**/v1/vals/${val.id}/files?*`
    const loseResponses = (until = async () => {}) =>
      page.route(saves, async (route) => {
        await route.fetch()
        await until()
        await route.abort()
      })
    await loseResponses()
    await editor.press("Control+s")
    // The page looks for newer versions every few seconds, and may have found this one.
    await findStatus(page, "Not saved").or(findVersion(page, 2)).waitFor()
    await page.unroute(saves)
    await editor.press("Control+s")
    await findVersion(page, 2).waitFor()
    // Text that is typed before the save has ended would be saved with it.
    await page
      .getByText(/(Saved as|Nothing has changed since) version 2/)
      .first()
      .waitFor()
    // After the page has looked at the val during the save.
    await loseResponses(async () => {
      await page.waitForResponse(
        (response) => response.url().endsWith(`/v1/vals/${val.id}`) && response.status() === 200,
      )
    })
    await replaceText(page, editor, "typed again")
    await editor.press("Control+s")
    await findVersion(page, 3).waitFor()
    await page.unroute(saves)
    expect(await page.getByText("saved elsewhere").count()).toBe(0)
    expect(await page.getByRole("dialog").count()).toBe(0)
    await context.setOffline(true)
    await replaceText(page, editor, "typed offline")
    await editor.press("Control+s")
    await findStatus(page, "Waiting for the server").waitFor()
    await page
      .getByText(/The server does not respond/)
      .first()
      .waitFor()
    await replaceText(page, editor, "typed later")
    await context.setOffline(false)
    await eventually(
      () => page.getByText(/The server does not respond/).count(),
      (count) => expect(count).toBe(0),
    )
    // The save is repeated by itself, without what was typed after it.
    await findVersion(page, 4).waitFor()
    await expectText(editor, "typed later")
    await findStatus(page, "Unsaved changes").waitFor()
    expect((await app.stage.admin.client.getVal({ val_id: val.id })).code).toBe("typed offline")
    expect(own.problems).toEqual([])
  })

  test("is saved once when it has arrived and the connection was lost before the response", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const { client } = app.stage.admin
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const editor = await typeInto(page, val.path, "typed")
    const saves = `**/v1/vals/${val.id}/files?*`
    let attempts = 0
    await page.route(saves, async (route) => {
      attempts += 1
      if (attempts > 1) return route.continue()
      await route.fetch()
      await context.setOffline(true)
      await route.abort()
    })
    await editor.press("Control+s")
    await findStatus(page, "Waiting for the server").waitFor()
    await replaceText(page, editor, "typed later")
    await context.setOffline(false)
    await findVersion(page, 2).waitFor()
    await findStatus(page, "Unsaved changes").waitFor()
    await expectText(editor, "typed later")
    expect(await page.getByRole("dialog").count()).toBe(0)
    expect(await client.getVal({ val_id: val.id })).toMatchObject({ version: 2, code: "typed" })
    expect(own.problems).toEqual([])
  })

  test("is not saved again over a version that was saved elsewhere while offline", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const { client } = app.stage.admin
    const val = await makeVal(app.stage.admin, { code: "saved" })
    const editor = await typeInto(page, val.path, "mine")
    await context.setOffline(true)
    await editor.press("Control+s")
    await findStatus(page, "Waiting for the server").waitFor()
    await client.createVersion({ val_id: val.id, code: "theirs" })
    await context.setOffline(false)
    await page.getByRole("dialog", { name: "Version 2 was saved elsewhere" }).waitFor()
    await expectText(editor, "mine")
    expect((await client.getVal({ val_id: val.id })).code).toBe("theirs")
    await page.keyboard.press("Escape")
    await page.goto("/")
    expect(own.problems).toEqual([])
  })

  test("survives a restart of the server, and so does a followed run", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default async () => { console.log("begun"); await new Promise((done) => setTimeout(done, 500_000)) }`
    const val = await makeVal(app.stage.admin, { code })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("log").getByText("begun").waitFor()
    await replaceText(page, editor, "export default () => 'after'")
    await app.stage.restart()
    // The log stays, and the final status is loaded.
    await page
      .locator(".status")
      .getByText(/Crashed|Failed|Cancelled|Timed out/)
      .waitFor()
    await page.getByRole("log").getByText("begun").waitFor()
    await expectText(editor, "export default () => 'after'")
    await editor.press("Control+Enter")
    await page.getByRole("region", { name: "Return value" }).getByText("after").waitFor()
    await findVersion(page, 2).waitFor()
    expect(own.problems).toEqual([])
  })

  test("survives the end of the session: the user signs in over the page and saves", async () => {
    const ada = await app.stage.person("ada")
    await using tab = await app.open(ada)
    const { page } = tab
    const val = await makeVal(ada, { code: "saved" })
    const editor = await typeInto(page, val.path, "typed")
    // A request of the old session is refused only after the user has signed in again.
    const [polled, signedIn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const isPoll = (url: string) => url.includes(`/v1/vals/${val.id}/runs?`)
    await page.route(
      ({ href }) => isPoll(href),
      async (route) => {
        polled.resolve()
        await signedIn.promise
        await route.continue()
      },
    )
    await ada.client.deleteAllSessions()
    await editor.press("Control+s")
    await polled.promise
    const dialog = page.getByRole("dialog", { name: "You have been signed out" })
    await dialog.getByLabel("Token").fill(ada.token)
    await dialog.getByRole("button", { name: "Sign in" }).click()
    await dialog.waitFor({ state: "detached" })
    const refused = page.waitForResponse(
      (response) => isPoll(response.url()) && response.status() === 401,
    )
    signedIn.resolve()
    await refused
    await expectText(editor, "typed")
    // The page has kept its editor: typing can still be undone.
    await editor.press("Control+z")
    await editor.press("Control+z")
    await editor.getByText("saved").waitFor()
    await editor.press("Control+y")
    await editor.press("Control+y")
    await editor.press("Control+s")
    await findVersion(page, 2).waitFor()
    expect((await ada.client.getVal({ val_id: val.id })).code).toBe("typed")
    expect(tab.problems).toEqual([])
  })

  test("needs no mouse: enter and leave the editor, save, run, palette", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 1" })
    await page.goto(val.path)
    const editor = await findEditor(page)
    const hasFocus = () => editor.evaluate((element) => element === document.activeElement)
    for (let count = 0; !(await hasFocus()) && count < tabsMax; count += 1)
      await page.keyboard.press("Tab")
    await page.keyboard.press("Control+End")
    await page.keyboard.type("1")
    // An Escape may close completions that typing has opened, and Tab leaves the editor only soon
    // after another one.
    const leave = async () => {
      await page.keyboard.press("Escape")
      await page.keyboard.press("Tab")
      return await hasFocus()
    }
    await eventually(leave, (isInside) => expect(isInside).toBe(false))
    await page.keyboard.press("Control+s")
    await findVersion(page, 2).waitFor()
    await page.keyboard.press("Control+Enter")
    await page
      .getByRole("region", { name: "Return value" })
      .getByText("11", { exact: true })
      .waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "A val or a command" }).fill("versions of")
    await page.getByRole("option", { name: /^Versions of/, selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/versions")
    expect(own.problems).toEqual([])
  })
})

/** Waits until the browser has stored a text, as it does a moment after the last key. */
async function waitForStored(page: Page, text: string): Promise<void> {
  await page.waitForFunction(
    (text) => Object.values(localStorage).some((stored) => String(stored).includes(text)),
    text,
  )
}

/** No draft is offered. The page looks for drafts when it opens: a later query ends after it. */
async function expectNoNotice(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.locks.query()
    await new Promise((resolve) => requestAnimationFrame(resolve))
  })
  expect(await page.locator(".notice").count()).toBe(0)
}
