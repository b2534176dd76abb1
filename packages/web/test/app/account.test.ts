import { beforeAll, expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import type { BrowserContextOptions } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"

describeApp("the account and the frame around every page", (app) => {
  let ada: Person
  beforeAll(async () => {
    ada = await app.stage.person("ada")
  })
  const open = (options?: BrowserContextOptions) => app.open(ada, options)

  test("has a public profile", async () => {
    await using tab = await open()
    const { page } = tab
    await page.goto("/account")
    await page.getByLabel("About you").fill("Counts engines")
    await page.getByLabel("Email").fill("ada@example.com")
    await seeNote(page, "Saved", () => page.getByRole("button", { name: "Save" }).click())
    await page.getByRole("link", { name: "Your page" }).click()
    await page.getByText("Counts engines").waitFor()
    expect(await ada.client.getMe()).toMatchObject({
      bio: "Counts engines",
      email: "ada@example.com",
    })
    expect(tab.problems).toEqual([])
  })

  test("connects a program, shows what it gets, and revokes it", async () => {
    const registered = await fetch(`${app.stage.url}/oauth/register`, {
      method: "POST",
      body: JSON.stringify({ client_name: "Robot", redirect_uris: [`${app.stage.url}/robot`] }),
    })
    const { client_id } = (await registered.json()) as { client_id: string }
    const code_challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    const method = { code_challenge, code_challenge_method: "S256" }
    const query = new URLSearchParams({ client_id, response_type: "code", ...method })
    await using tab = await open()
    const { page } = tab
    await page.goto(`/oauth/authorize?${query}`)
    await page.getByText("Robot").waitFor()
    await page.getByText(new URL(app.stage.url).host, { exact: true }).waitFor()
    await expectNoBarriers(page)
    // Code that the program saves or runs is the owner's own: it can do more than these two words say.
    for (const scope of ["val:write", "run:write"])
      await page
        .getByRole("checkbox", { name: new RegExp(`secrets, blobs, database and mail ${scope}$`) })
        .waitFor()
    await page.getByRole("checkbox", { name: "sqlite:write" }).uncheck()
    await page.getByRole("button", { name: "Allow" }).click()
    await page.waitForURL(/\/robot\?code=/)
    const { searchParams } = new URL(page.url())
    const exchanged = await fetch(`${app.stage.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id,
        code: searchParams.get("code") ?? "",
        code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      }),
    })
    const { access_token, scope } = (await exchanged.json()) as Record<string, string>
    expect(scope?.split(" ")).toContain("sqlite:read")
    expect(scope?.split(" ")).not.toContain("sqlite:write")
    const client = createClient({ baseUrl: app.stage.url, token: access_token })
    expect((await client.getMe()).username).toBe("ada")
    await page.goto("/account/programs")
    await page.getByRole("button", { name: "Revoke Robot" }).click()
    await page.getByText("No program acts for you").waitFor()
    await expect(client.getMe()).rejects.toMatchObject({ status: 401 })
  })

  test("connects a program that shows a code", async () => {
    const send = async (path: string, fields: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: "val_town_vt", ...fields })
      const response = await fetch(`${app.stage.url}${path}`, { method: "POST", body })
      return (await response.json()) as Record<string, string>
    }
    const started = await send("/oauth/device_authorization", { scope: "openid user_r" })
    await using tab = await open()
    const { page } = tab
    await page.goto("/oauth/device")
    await page.getByLabel("Code that the program shows").fill(started.user_code ?? "")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByText(`the program with the code ${started.user_code}`).waitFor()
    await expectNoBarriers(page)
    await page.getByRole("button", { name: "Allow" }).click()
    await page.getByText("The program is connected").waitFor()
    const { access_token = "" } = await send("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: started.device_code ?? "",
    })
    const client = createClient({ baseUrl: app.stage.url, token: access_token })
    expect((await client.getMe()).username).toBe("ada")
    await page.goto("/account/programs")
    await page.getByRole("button", { name: "Revoke vt" }).click()
    await page.getByText("No program acts for you").waitFor()
    await expect(client.getMe()).rejects.toMatchObject({ status: 401 })
  })

  test("creates a token that is shown once, works within its scopes and is revoked", async () => {
    await using tab = await open({ permissions: ["clipboard-read", "clipboard-write"] })
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/account/tokens")
    await page.getByRole("button", { name: "New token" }).click()
    const dialog = page.getByRole("dialog", { name: "New token" })
    await dialog.getByLabel("Name").fill("for the CI")
    for (const scope of ["val:write", "run:write"])
      await dialog.getByRole("checkbox", { name: scope }).uncheck()
    await dialog.getByRole("button", { name: "Create" }).click()
    await page.getByText("is created. Copy it now").waitFor()
    await expectNoBarriers(page)
    await seeNote(page, "Copied", () =>
      page.getByRole("button", { name: "Copy the token" }).click(),
    )
    const token = await page.evaluate(() => navigator.clipboard.readText())
    await eventually(
      () => page.locator(".made-text code").textContent(),
      (found) => expect(found).toBe(token),
    )
    const row = page.getByRole("row").filter({ hasText: "for the CI" })
    await row.getByText("val:read run:read user:read").waitFor()
    await row.getByText("in 90 days").waitFor()

    const client = createClient({ baseUrl: app.stage.url, token })
    expect((await client.getMe()).username).toBe("ada")
    await expect(client.createVal({ code: "export default 1" })).rejects.toMatchObject({
      status: 403,
    })
    await page.reload()
    await row.waitFor()
    expect(await page.content()).not.toContain(token)
    await row.getByRole("button", { name: "Revoke for the CI" }).click()
    await row.waitFor({ state: "detached" })
    await expect(client.getMe()).rejects.toMatchObject({ status: 401 })
    expect(tab.problems).toEqual([])
  })

  test("keeps secrets that vals read and that cannot be read back", async () => {
    const { id } = await ada.client.createVal({
      name: "reads",
      code: `export default () => Deno.env.get("API_KEY")?.split("") ?? null`,
    })
    // Letter by letter: the server masks the value of a secret in the output.
    const read = async () => {
      const { returnValue } = await ada.client.createRun({ val_id: id })
      return Array.isArray(returnValue) ? returnValue.join("") : returnValue
    }
    await using tab = await open()
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/account/secrets")
    await page.getByRole("button", { name: "New secret" }).click()
    // The dialog begins at its first field, not at its cross.
    await page.getByLabel("Name").and(page.locator(":focus")).waitFor()
    await page.keyboard.type("API_KEY")
    const value = page.getByLabel("Value", { exact: true })
    const masking = () =>
      value.evaluate((field) => getComputedStyle(field).getPropertyValue("-webkit-text-security"))
    expect(await masking()).toBe("disc")
    await page.getByLabel("Show the value").check()
    await eventually(masking, (mask) => expect(mask).toBe("none"))
    await value.fill("first value\nof two lines")
    await page.getByRole("button", { name: "Save" }).click()
    const row = page.getByRole("row").filter({ hasText: "API_KEY" })
    await row.getByText("readable by your vals").waitFor()
    await eventually(
      () => read(),
      (found) => expect(found).toBe("first value\nof two lines"),
    )
    await row.getByRole("button", { name: "Replace API_KEY" }).click()
    await page.getByLabel("Value", { exact: true }).fill("second value")
    await page.getByLabel("Only for these hosts").fill("not a host!")
    // Enter saves, as in a field of one line.
    await page.getByLabel("Value", { exact: true }).press("Enter")
    await page.getByRole("alert").filter({ hasText: "host" }).waitFor()
    await page.getByLabel("Only for these hosts").fill("api.example.com, example.com:8443")
    await page.getByRole("button", { name: "Save" }).click()
    await row.getByText("api.example.com, example.com:8443").waitFor()
    await eventually(
      () => read(),
      (found) => expect(found).toBe("hamlet-secret:API_KEY"),
    )
    expect(await page.content()).not.toMatch(/first value|second value/)
    await row.getByRole("button", { name: "Delete API_KEY" }).click()
    await page.getByText("No secrets").waitFor()
    await eventually(
      () => read(),
      (found) => expect(found).toBe(null),
    )
    expect(tab.problems).toEqual([])
  })

  test("shows usage and limits", async () => {
    await ada.client.putBlob({ key: "note", content: "x".repeat(2_000) })
    await using tab = await open()
    const { page } = tab
    await page.goto("/account/usage")
    await page.getByText("Blobs (1)").waitFor()
    await page.getByText(/^2(\.0)? KB of /).waitFor()
    await eventually(
      () => page.getByRole("meter").count(),
      (found) => expect(found).toBe(8),
    )
    expect(tab.problems).toEqual([])
  })

  test("signs out another browser, and then all browsers", async () => {
    const grace = await app.stage.person("grace")
    await using here = await app.open(grace, {
      userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    })
    await using there = await app.open(grace)
    await there.page.goto("/")
    here.page.on("dialog", (dialog) => void dialog.accept())
    await here.page.goto("/account/sessions")
    const other = here.page.getByRole("listitem").filter({ hasText: "Chrome on Linux" })
    await here.page
      .getByRole("listitem")
      .filter({ hasText: "Firefox on Linux" })
      .getByText("this browser")
      .waitFor()
    await other.getByRole("button", { name: "Sign out" }).click()
    await other.waitFor({ state: "detached" })
    await there.page.getByRole("dialog", { name: "You have been signed out" }).waitFor()
    await there.page.getByLabel("Token").fill(grace.token)
    await seeNote(there.page, "Signed in again", () =>
      there.page.getByRole("button", { name: "Sign in" }).click(),
    )

    await here.page.getByRole("button", { name: "Sign out everywhere" }).click()
    await here.page.getByRole("heading", { name: "Small programs, running" }).waitFor()
    await there.page.getByRole("dialog", { name: "You have been signed out" }).waitFor()
    expect((await grace.client.listSessions()).data).toEqual([])
    expect([...here.problems, ...there.problems]).toEqual([])
  })

  test("the palette opens with keys, finds vals and commands, and restores the focus", async () => {
    await ada.client.createVal({ name: "needle", code: "export default 'hay'", privacy: "private" })
    await using tab = await open()
    const { page } = tab
    const palette = page.getByRole("dialog", { name: "Command palette" })
    const field = palette.getByRole("combobox")
    await page.goto("/account")
    await page.getByLabel("Email").focus()
    await page.keyboard.press("Control+k")
    await palette.getByRole("option", { name: "New val", selected: true }).waitFor()
    await page.keyboard.press("ArrowDown")
    await palette.getByRole("option", { name: "Your vals", selected: true }).waitFor()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await palette
      .getByRole("option")
      .last()
      .and(palette.getByRole("option", { selected: true }))
      .waitFor()
    const lastId = await palette.getByRole("option").last().getAttribute("id")
    await eventually(
      () => field.getAttribute("aria-activedescendant"),
      (id) => expect(id).toBe(lastId),
    )
    await page.keyboard.press("Escape")
    await palette.waitFor({ state: "detached" })
    await page.getByLabel("Email").and(page.locator(":focus")).waitFor()

    await page.getByRole("button", { name: "Search or run a command" }).click()
    await field.fill("needl")
    await palette.getByRole("option", { name: "ada/needle", selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/u/ada/needle")
    await page.keyboard.press("Control+k")
    await field.fill("secr")
    await palette.getByRole("option", { name: "Secrets", selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/account/secrets")
    await page.keyboard.press("Control+k")
    await field.fill("hay & <straw>")
    await palette.getByRole("option", { name: "Search all vals for “hay & <straw>”" }).click()
    await page.waitForURL((url) => url.searchParams.get("q") === "hay & <straw>")
    await page.keyboard.press("Control+k")
    await field.fill("sign out")
    await palette.getByRole("option", { name: "Sign out", selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "Sign in" }).first().waitFor()
    expect(tab.problems).toEqual([])
  })

  test("chosen colours apply before the first paint", async () => {
    await using tab = await open({ colorScheme: "light" })
    const { page } = tab
    await page.goto("/")
    const ground = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await ground()
    await page.getByRole("button", { name: "Account of ada" }).click()
    await page.getByRole("menuitemradio", { name: "Dark" }).click()
    await eventually(ground, (dark) => expect(dark).not.toBe(light))
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))
    await eventually(focused, (label) => expect(label).toBe("Account of ada"))
    await tab.context.addInitScript(() => {
      const seen = new MutationObserver(() =>
        Object.assign(globalThis, { themeAt: { hadBody: document.body !== null } }),
      )
      seen.observe(document, { attributes: true, attributeFilter: ["data-theme"], subtree: true })
    })
    await page.reload()
    await eventually(
      () => page.locator("html").getAttribute("data-theme"),
      (found) => expect(found).toBe("dark"),
    )
    expect(await page.evaluate(() => (globalThis as { themeAt?: unknown }).themeAt)).toEqual({
      hadBody: false,
    })
    await eventually(
      () => ground(),
      (found) => expect(found).not.toBe(light),
    )
    await page.keyboard.press("Control+k")
    const palette = page.getByRole("dialog")
    await palette.getByRole("combobox").fill("system col")
    await palette.getByRole("option", { name: "System colours", selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await palette.waitFor({ state: "detached" })
    await eventually(ground, (color) => expect(color).toBe(light))
    expect(tab.problems).toEqual([])
  })
})
