import { expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"

describeApp("signing in", (app) => {
  test("by a link names the account, works once and leaves no code in the history", async () => {
    await using tab = await app.open()
    const { url } = await app.stage.admin.client.createSignInLink()
    await tab.page.goto(url)
    const button = tab.page.getByRole("button", { name: "Sign in as root" })
    await button.waitFor()
    await expectNoBarriers(tab.page)
    expect(await tab.context.cookies()).toEqual([])
    expect(tab.page.url()).toBe(`${app.stage.url}/sign-in`)
    await button.click()
    await tab.page.getByRole("button", { name: "Account of root" }).waitFor()
    await tab.page.waitForURL(`${app.stage.url}/`)
    await using other = await app.open()
    await other.page.goto(url)
    await other.page.getByRole("alert").filter({ hasText: "Ask for a new link" }).waitFor()
    expect([...tab.problems, ...other.problems]).toEqual([])
  })

  test("by a token does not store it where a script can read it", async () => {
    await using tab = await app.open()
    await tab.page.goto("/sign-in")
    await tab.page.getByLabel("Token").waitFor()
    await expectNoBarriers(tab.page)
    await tab.page.getByLabel("Token").fill(app.stage.admin.token)
    await tab.page.getByRole("button", { name: "Sign in" }).click()
    await tab.page.getByRole("button", { name: "Account of root" }).waitFor()
    const seen = await tab.page.evaluate(() =>
      JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]),
    )
    expect(seen).not.toContain(app.stage.admin.token)
    expect(seen).not.toContain("hamlet_session")
    const [cookie] = await tab.context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" })
    expect(tab.problems).toEqual([])
  })

  test("by an invalid link keeps the current session", async () => {
    await using tab = await app.open(app.stage.admin)
    await tab.page.goto("/sign-in#code=x")
    await tab.page.getByRole("alert").filter({ hasText: "Ask for a new link" }).waitFor()
    expect(await tab.page.getByText("You have been signed out").count()).toBe(0)
    await tab.page.goto("/account")
    await tab.page.getByRole("button", { name: "Account of root" }).waitFor()
  })

  test("as another user, after a session has ended, shows nothing of the first one", async () => {
    const [carl, dora] = [await app.stage.person("carl"), await app.stage.person("dora")]
    await carl.client.createToken({ name: "of carl", scopes: ["val:read"] })
    const val = await carl.client.createVal({ code: "export default 1", privacy: "public" })
    await dora.client.createComment({ val_id: val.id, comment: "Thanks!" })
    await using tab = await app.open(carl)
    const { page } = tab
    await page.goto("/account/tokens")
    const ofCarl = page.getByRole("button", { name: "Revoke of carl" })
    await ofCarl.waitFor()
    await page.getByRole("link", { name: "Notifications, 1 unread" }).waitFor()
    await carl.client.deleteAllSessions()
    await page.getByRole("button", { name: "New token" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("new")
    await page.getByRole("dialog").getByRole("checkbox").first().check()
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click()
    const dialog = page.getByRole("dialog", { name: "You have been signed out" })
    await dialog.getByLabel("Token").fill(dora.token)
    await dialog.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("button", { name: "Account of dora" }).waitFor()
    await ofCarl.waitFor({ state: "detached" })
    await page.getByRole("link", { name: "Notifications", exact: true }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("by an invitation asks for a name, once, and shows the first token", async () => {
    const { url } = await app.stage.admin.client.createInvitation({})
    await using tab = await app.open()
    await tab.page.goto(url)
    await tab.page.getByLabel("Name").fill("root")
    await tab.page.getByRole("button", { name: "Accept" }).click()
    await tab.page.getByRole("alert").filter({ hasText: "Cannot create user" }).waitFor()
    await tab.page.getByLabel("Name").fill("invited")
    await tab.page.getByRole("button", { name: "Accept" }).click()
    await tab.page.getByRole("heading", { name: "Welcome, invited" }).waitFor()
    await expectNoBarriers(tab.page)
    expect(tab.page.url()).not.toContain("code")
    const token = (await tab.page.locator("code.token").textContent()) ?? ""
    expect((await createClient({ baseUrl: app.stage.url, token }).getMe()).username).toBe("invited")
    await tab.page.getByRole("button", { name: "Continue" }).click()
    await tab.page.getByRole("button", { name: "Account of invited" }).waitFor()
    await using other = await app.open()
    await other.page.goto(url)
    await other.page.getByLabel("Name").fill("second")
    await other.page.getByRole("button", { name: "Accept" }).click()
    await other.page
      .getByRole("alert")
      .filter({ hasText: "Cannot accept the invitation" })
      .waitFor()
  })

  test("with a wrong token reports it", async () => {
    await using tab = await app.open()
    await tab.page.goto("/sign-in")
    await tab.page.getByLabel("Token").fill("wrong")
    await tab.page.getByRole("button", { name: "Sign in" }).click()
    await tab.page.getByRole("alert").filter({ hasText: "Cannot" }).waitFor()
    expect(await tab.context.cookies()).toEqual([])
  })
})
