import { expect, test } from "bun:test"
import { findBarriers } from "./check-page.ts"
import { describeApp } from "./describe-app.ts"

describeApp("signing in", (app) => {
  test("by a link works once and leaves no code in the history", async () => {
    await using tab = await app.open()
    const { url } = await app.stage.admin.client.createSignInLink()
    await tab.page.goto(url)
    await tab.page.getByRole("button", { name: "Account of root" }).waitFor()
    await tab.page.waitForURL(`${app.stage.url}/`)
    await using other = await app.open()
    await other.page.goto(url)
    await other.page.getByRole("alert").filter({ hasText: "Ask for a new link" }).waitFor()
    expect([...tab.problems, ...other.problems]).toEqual([])
  })

  test("by a token keeps it nowhere that a script can read", async () => {
    await using tab = await app.open()
    await tab.page.goto("/sign-in")
    await tab.page.getByLabel("Token").waitFor()
    expect(await findBarriers(tab.page)).toEqual([])
    await tab.page.getByLabel("Token").fill(app.stage.admin.token)
    await tab.page.getByRole("button", { name: "Sign in" }).click()
    await tab.page.getByRole("button", { name: "Account of root" }).waitFor()
    const seen = await tab.page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]))
    expect(seen).not.toContain(app.stage.admin.token)
    expect(seen).not.toContain("hamlet_session")
    const [cookie] = await tab.context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" })
    expect(tab.problems).toEqual([])
  })

  test("with a wrong token says so and goes no further", async () => {
    await using tab = await app.open()
    await tab.page.goto("/sign-in")
    await tab.page.getByLabel("Token").fill("wrong")
    await tab.page.getByRole("button", { name: "Sign in" }).click()
    await tab.page.getByRole("alert").filter({ hasText: "Cannot" }).waitFor()
    expect(await tab.context.cookies()).toEqual([])
  })

  test("leads to no other site, whatever the link says", async () => {
    await using tab = await app.open()
    await tab.page.goto(`/sign-in?to=${encodeURIComponent("//elsewhere.example/x")}`)
    await tab.page.getByLabel("Token").fill(app.stage.admin.token)
    await tab.page.getByRole("button", { name: "Sign in" }).click()
    await tab.page.waitForURL(`${app.stage.url}/`)
  })
})
