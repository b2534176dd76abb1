import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import type { Browser, Page } from "playwright-core"
import { startBrowser } from "../browser.ts"
import { findBarriers } from "./check-page.ts"
import { type AppStage, openAppStage, openTab, type Person } from "./stage.ts"

const browser: Browser | undefined = await startBrowser()

describe.skipIf(!browser)("the account", () => {
  let stage: AppStage
  let ada: Person
  beforeAll(async () => {
    stage = await openAppStage()
    ada = await stage.person("ada")
  }, 90_000)
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
    await browser?.close()
  })
  const open = (options?: Parameters<typeof openTab>[3]) => openTab(browser as Browser, stage, ada, options)

  test("has a profile that others see", async () => {
    await using tab = await open()
    const { page } = tab
    await page.goto("/account")
    await page.getByLabel("About you").fill("Counts engines")
    await page.getByLabel("Email").fill("ada@example.com")
    await page.getByRole("button", { name: "Save" }).click()
    await said(page, "Saved")
    await page.getByRole("link", { name: "Your page" }).click()
    await page.getByText("Counts engines").waitFor()
    expect(await ada.client.getMe()).toMatchObject({ bio: "Counts engines", email: "ada@example.com" })
    expect(tab.problems).toEqual([])
  })

  test("makes a token that is shown once, works within its scopes and is revoked", async () => {
    await using tab = await open({ permissions: ["clipboard-read", "clipboard-write"] })
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/account/tokens")
    await page.getByRole("button", { name: "New token" }).click()
    const dialog = page.getByRole("dialog", { name: "New token" })
    await dialog.getByLabel("Name").fill("for the CI")
    for (const scope of ["val:write", "run:write"]) await dialog.getByRole("checkbox", { name: scope }).uncheck()
    await dialog.getByRole("button", { name: "Make it" }).click()
    await page.getByText("is made. Copy it now").waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole("button", { name: "Copy the token" }).click()
    await page.getByText("Copied").waitFor()
    const token = await page.evaluate(() => navigator.clipboard.readText())
    expect(await page.locator(".made-text code").textContent()).toBe(token)
    const row = page.getByRole("row").filter({ hasText: "for the CI" })
    await row.getByText("val:read run:read user:read").waitFor()

    const client = createClient({ baseUrl: stage.url, token })
    expect((await client.getMe()).username).toBe("ada")
    await expect(client.createVal({ code: "export default 1" })).rejects.toMatchObject({ status: 403 })
    await page.reload()
    await row.waitFor()
    expect(await page.content()).not.toContain(token)
    await row.getByRole("button", { name: "Revoke for the CI" }).click()
    await row.waitFor({ state: "detached" })
    await expect(client.getMe()).rejects.toMatchObject({ status: 401 })
    expect(tab.problems).toEqual([])
  })

  test("keeps secrets that vals see and nobody reads back", async () => {
    const { id } = await ada.client.createVal({ name: "reads", code: `export default () => Deno.env.get("API_KEY") ?? null` })
    const read = async () => (await ada.client.createRun({ val_id: id })).returnValue
    await using tab = await open()
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/account/secrets")
    await page.getByRole("button", { name: "New secret" }).click()
    await page.getByLabel("Name").fill("API_KEY")
    await page.getByLabel("Value").fill("first value")
    await page.getByRole("button", { name: "Set it" }).click()
    const row = page.getByRole("row").filter({ hasText: "API_KEY" })
    await row.getByText("seen by your vals").waitFor()
    expect(await read()).toBe("first value")
    await row.getByRole("button", { name: "Replace API_KEY" }).click()
    await page.getByLabel("Value").fill("second value")
    await page.getByLabel("Only for these hosts").fill("not a host!")
    await page.getByRole("button", { name: "Set it" }).click()
    await page.getByRole("alert").filter({ hasText: "host" }).waitFor()
    await page.getByLabel("Only for these hosts").fill("api.example.com, example.com:8443")
    await page.getByRole("button", { name: "Set it" }).click()
    await row.getByText("api.example.com, example.com:8443").waitFor()
    expect(await read()).toBe("hamlet-secret:API_KEY")
    expect(await page.content()).not.toMatch(/first value|second value/)
    await row.getByRole("button", { name: "Delete API_KEY" }).click()
    await page.getByText("No secrets").waitFor()
    expect(await read()).toBe(null)
    expect(tab.problems).toEqual([])
  })

  test("shows what is used of what may be used", async () => {
    await ada.client.putBlob({ key: "note", content: "x".repeat(2_000) })
    await using tab = await open()
    const { page } = tab
    await page.goto("/account/usage")
    await page.getByText("Blobs (1)").waitFor()
    await page.getByText(/^2 KB of /).waitFor()
    expect(await page.getByRole("meter").count()).toBe(6)
    expect(tab.problems).toEqual([])
  })

  test("signs out another browser, and then every one", async () => {
    await using here = await open({ userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" })
    await using there = await open()
    here.page.on("dialog", (dialog) => void dialog.accept())
    await here.page.goto("/account/sessions")
    const other = here.page.getByRole("listitem").filter({ hasText: "Chrome on Linux" })
    await here.page.getByRole("listitem").filter({ hasText: "Firefox on Linux" }).getByText("this one").waitFor()
    // Tests before this one have left sessions behind.
    for (let left = await other.count(); left > 0; left -= 1) {
      await other.first().getByRole("button", { name: "Sign out" }).click()
      await other.nth(left - 1).waitFor({ state: "detached" })
    }
    await there.page.getByRole("dialog", { name: "You have been signed out" }).waitFor()
    await there.page.getByLabel("Token").fill(ada.token)
    await there.page.getByRole("button", { name: "Sign in" }).click()
    await said(there.page, "Signed in again")

    await here.page.getByRole("button", { name: "Sign out everywhere" }).click()
    await here.page.getByRole("heading", { name: "Small programs, running" }).waitFor()
    await there.page.getByRole("dialog", { name: "You have been signed out" }).waitFor()
    expect((await ada.client.listSessions()).data).toEqual([])
    expect([...here.problems, ...there.problems]).toEqual([])
  })
})

function said(page: Page, text: string): Promise<void> {
  return page.getByRole("status").getByText(text, { exact: true }).waitFor()
}
