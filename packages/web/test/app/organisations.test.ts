import { expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import type { Page } from "playwright-core"
import { actFor, type Person } from "../../dev/app-stage.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"

describeApp("organisations", (app) => {
  /** An organisation with a private val called tool. */
  const addOrg = async (owner: Person, name: string) => {
    const { id } = await owner.client.createOrganisation({ username: name })
    const val = await actFor(app.stage, owner, name).createVal({
      name: "tool",
      code: "export default 1\n",
      type: "script",
      privacy: "private",
    })
    return { id, name, val }
  }
  const addMember = async (org: { id: string }, owner: Person, who: Person, role: Role) => {
    const { id } = await who.client.getMe()
    await owner.client.putOrgMember({ org_id: org.id, user_id: id, role })
    await who.client.acceptMembership({ org_id: org.id })
    return id
  }

  test("without one, there is nothing to switch, and the account page makes one", async () => {
    const ada = await app.stage.person("ada_alone")
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/account/organisations")
    await page.getByText("You belong to none yet.").waitFor()
    expect(await page.locator(".owner-switch").count()).toBe(0)
    await page.getByRole("button", { name: "New organisation" }).click()
    const form = page.getByRole("dialog", { name: "New organisation" })
    await form.getByLabel("Name").fill("ada_alone")
    await form.getByRole("button", { name: "Create" }).click()
    await form.getByRole("alert").filter({ hasText: "ada_alone" }).waitFor()
    await form.getByLabel("Name").fill("alone_org")
    await form.getByRole("button", { name: "Create" }).click()
    await page.waitForURL("**/orgs/alone_org")
    await page.getByRole("button", { name: "Acting for alone_org" }).waitFor()
    await page.getByRole("cell", { name: "ada_alone (you)" }).waitFor()
    expect(await page.title()).toBe("alone_org · Hamlet")
    // The only owner cannot leave, and reads why.
    page.once("dialog", (dialog) => void dialog.accept())
    await page.getByRole("button", { name: "Leave alone_org" }).click()
    await page.getByRole("status").filter({ hasText: "would have no owner" }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("the app follows the switch, and the browser remembers it for one user", async () => {
    const [ada, eve] = [await app.stage.person("ada_switch"), await app.stage.person("eve_switch")]
    const org = await addOrg(ada, "switch_org")
    await ada.client.createVal({ name: "mine", code: "export default 1\n", privacy: "private" })
    await addMember(org, ada, eve, "member")
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/")
    await page.getByRole("link", { name: "mine" }).waitFor()
    await page.keyboard.press("g")
    await page.keyboard.press("o")
    await page.getByRole("menuitemradio", { name: "switch_org" }).waitFor()
    await expectNoBarriers(page)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Vals of switch_org" }).waitFor()
    await page.getByRole("link", { name: "tool" }).waitFor()
    expect(await page.getByRole("link", { name: "mine" }).count()).toBe(0)
    expect(await page.title()).toBe("switch_org · Hamlet")
    await page.reload()
    await page.getByRole("button", { name: "Acting for switch_org" }).waitFor()
    await page.getByRole("link", { name: "tool" }).waitFor()
    await page.goto("/account/secrets")
    await page.getByText("The vals of switch_org read secrets").waitFor()
    await page.getByRole("button", { name: "New secret" }).click()
    await page.getByLabel("Name").fill("SHARED")
    await page.getByLabel("Value", { exact: true }).fill("1")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("cell", { name: "SHARED", exact: true }).waitFor()
    expect((await ada.client.listSecrets({})).data).toEqual([])
    await page.goto("/account/tokens")
    await page.getByRole("button", { name: "New token" }).click()
    await page.getByText("this token will work for switch_org only").waitFor()
    await page.getByLabel("Name").fill("for the organisation")
    await page.getByRole("button", { name: "Create", exact: true }).click()
    const token = (await page.locator(".made code").textContent()) ?? ""
    const limited = createClient({ baseUrl: app.stage.url, token })
    expect((await limited.getMe()).username).toBe("switch_org")
    // Another person in the same browser acts for herself.
    await page.getByRole("button", { name: "Account of ada_switch" }).click()
    await page.getByRole("menuitem", { name: "Sign out" }).click()
    await page.getByRole("heading", { name: "Small programs, running" }).waitFor()
    await signIn(page, eve)
    await page.getByRole("button", { name: "Acting for eve_switch" }).waitFor()
    await page.getByText("Welcome, eve_switch").waitFor()
    expect(tab.problems).toEqual([])
  })

  test("a new val and a fork belong to the owner who is chosen", async () => {
    const ada = await app.stage.person("ada_makes")
    await addOrg(ada, "makes_org")
    const { id } = await app.stage.admin.client.createVal({
      name: "origin",
      code: "export default 1\n",
      privacy: "public",
    })
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/new")
    await page.getByLabel("Owner").selectOption({ label: "makes_org" })
    await page.getByRole("button", { name: "Acting for makes_org" }).waitFor()
    await page.getByLabel("Name").fill("made_here")
    await page.getByRole("button", { name: "Create" }).click()
    await page.waitForURL("**/u/makes_org/made_here")
    await page.getByRole("button", { name: "Save" }).waitFor()
    await page.goto("/u/root/origin")
    await page.getByRole("button", { name: "Fork" }).click()
    await page.waitForURL("**/u/makes_org/origin")
    await app.stage.admin.client.deleteVal({ val_id: id })
    expect(tab.problems).toEqual([])
  })

  test("an invited user accepts, changes a val, and loses it with the removal", async () => {
    const [ada, bob] = [await app.stage.person("ada_invites"), await app.stage.person("bob_joins")]
    const org = await addOrg(ada, "invites_org")
    await using tab = await app.open(ada)
    await using other = await app.open(bob, {})
    const { page } = tab
    await page.goto("/orgs/invites_org")
    await page.getByRole("button", { name: "Invite", exact: true }).click()
    const form = page.getByRole("dialog", { name: "Invite into invites_org" })
    await form.getByLabel("User name").fill("no_such_user_here")
    await form.getByRole("button", { name: "Invite" }).click()
    await form.getByRole("alert").filter({ hasText: "no_such_user_here" }).waitFor()
    await form.getByLabel("User name").fill("ada_invites")
    await form.getByRole("button", { name: "Invite" }).click()
    await form.getByRole("alert").filter({ hasText: "already" }).waitFor()
    await form.getByLabel("User name").fill("bob_joins")
    await form.getByRole("button", { name: "Invite" }).click()
    await page.getByRole("row", { name: "bob_joins" }).getByText("invited").waitFor()

    const his = other.page
    await his.goto("/")
    await his.getByText("invites_org invites you as a member.").waitFor()
    expect(await his.locator(".owner-switch").count()).toBe(0)
    await expectNoBarriers(his)
    await seeNote(his, "You belong to invites_org now", () =>
      his.getByRole("button", { name: "Accept the invitation of invites_org" }).click(),
    )
    await his.getByRole("button", { name: "Acting for bob_joins" }).waitFor()
    // The val of an organisation that is not chosen can be changed too.
    await his.goto("/u/invites_org/tool")
    await his.locator(".cm-content").click()
    await his.keyboard.type("// by Bob\n")
    await his.keyboard.press("Control+s")
    await eventually(
      async () => (await ada.client.getVal({ val_id: org.val.id })).code,
      (code) => expect(code).toContain("// by Bob"),
    )
    await his.keyboard.type("// not saved\n")
    const aside = await other.context.newPage()
    await aside.goto("/u/invites_org")
    await aside.getByRole("region", { name: "People" }).getByText("ada_invites").waitFor()
    await aside.getByRole("button", { name: "Acting for bob_joins" }).click()
    await aside.getByRole("menuitemradio", { name: "invites_org" }).click()
    await aside.goto("/runs")
    await aside.getByRole("button", { name: "Acting for invites_org" }).waitFor()

    await page.reload()
    page.once("dialog", (dialog) => {
      expect(dialog.message()).toContain("loses access to its private vals")
      void dialog.accept()
    })
    await seeNote(page, "bob_joins is removed", () =>
      page.getByRole("button", { name: "Remove bob_joins" }).click(),
    )
    // The page that acts for the organisation falls back to the person.
    await aside.getByRole("link", { name: "Home", exact: true }).click()
    await aside.getByText("You no longer belong to invites_org").waitFor()
    await aside.getByRole("heading", { name: "Your vals", exact: true }).waitFor()
    expect(await aside.locator(".owner-switch").count()).toBe(0)
    await aside.goto("/u/invites_org/tool")
    await aside.getByRole("heading", { name: "Not found" }).waitFor()
    // What was typed meanwhile stays, and saving it is refused.
    await his.bringToFront()
    await his.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
    await his.locator(".owner-switch").waitFor({ state: "detached" })
    await his.locator(".cm-content").click()
    await his.keyboard.press("Control+s")
    await his.getByText("Cannot find val").first().waitFor()
    expect(await his.locator(".cm-content").textContent()).toContain("// not saved")
    expect((await ada.client.getVal({ val_id: org.val.id })).code).not.toContain("not saved")
    expect([...tab.problems, ...other.problems]).toEqual([])
  })

  test("a link leads a signed-out person into the organisation", async () => {
    const [ada, bob] = [await app.stage.person("ada_links"), await app.stage.person("bob_links")]
    await addOrg(ada, "links_org")
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/orgs/links_org")
    const invite = async () => {
      await page.getByRole("button", { name: "Invite", exact: true }).click()
      const form = page.getByRole("dialog", { name: "Invite into links_org" })
      await form.getByLabel("How").selectOption("link")
      await form.getByLabel("Role").selectOption("viewer")
      await form.getByRole("button", { name: "Create link" }).click()
      await page.getByText("Send this link to the person").waitFor()
      return (await page.locator(".made code").textContent()) ?? ""
    }
    const first = await invite()
    await seeNote(page, "The invitation is revoked", () =>
      page.getByRole("button", { name: "Revoke the link for one person" }).click(),
    )
    const url = await invite()
    expect(url).not.toBe(first)
    await page.getByRole("button", { name: "Revoke the link for one person" }).waitFor()

    await using other = await app.open(undefined, {})
    const his = other.page
    await his.goto(url)
    await his.getByText("Sign in to join it.").waitFor()
    expect(his.url()).not.toContain("code=")
    await expectNoBarriers(his)
    await his.getByLabel("Token").fill(bob.token)
    await his.getByRole("button", { name: "Sign in", exact: true }).click()
    await his.getByText("You are signed in as bob_links").waitFor()
    await expectNoBarriers(his)
    await his.getByRole("button", { name: "Join", exact: true }).click()
    await his.waitForURL("**/u/links_org")
    await his.getByRole("button", { name: "Act for links_org" }).click()
    await his.getByRole("button", { name: "Acting for links_org" }).waitFor()
    // A used link says so.
    await his.goto("/healthz")
    await his.goto(url)
    await his.getByRole("button", { name: "Join", exact: true }).click()
    await his.getByRole("alert").filter({ hasText: "was used" }).waitFor()
    expect([...tab.problems, ...other.problems]).toEqual([])
  })

  test("a viewer sees without controls that change", async () => {
    const [ada, bob] = [await app.stage.person("ada_shows"), await app.stage.person("bob_views")]
    const org = await addOrg(ada, "shows_org")
    const bobId = await addMember(org, ada, bob, "viewer")
    await using tab = await app.open(bob)
    const { page } = tab
    await page.goto("/u/shows_org/tool")
    await page.getByText("Read only").waitFor()
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true)
    expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0)
    await page.goto("/u/shows_org/tool/settings")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/account/organisations")
    await page.getByRole("button", { name: "Act for shows_org" }).click()
    await page.goto("/account/secrets")
    await page.getByText("Viewers cannot change them.").waitFor()
    expect(await page.getByRole("button", { name: "New secret" }).count()).toBe(0)
    await page.goto("/data")
    await page.getByText("Your role in shows_org does not allow queries.").waitFor()
    await page.goto("/new")
    await page.getByText("Viewers cannot create vals.").waitFor()
    expect(await page.getByRole("button", { name: "Create" }).isDisabled()).toBe(true)
    await page.goto("/orgs/shows_org")
    await page.getByText("Owners invite and remove people.").waitFor()
    expect(await page.getByRole("combobox").count()).toBe(0)
    await page.getByRole("link", { name: "Settings" }).click()
    await page.getByText("Only owners of shows_org change its settings.").waitFor()
    // As a member, the same person changes the val.
    await ada.client.putOrgMember({ org_id: org.id, user_id: bobId, role: "member" })
    await page.goto("/u/shows_org/tool")
    await page.getByRole("button", { name: "Save" }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("an owner gives roles, and deletes the organisation by its name", async () => {
    const [ada, bob] = [await app.stage.person("ada_ends"), await app.stage.person("bob_stays")]
    const org = await addOrg(ada, "ends_org")
    await addMember(org, ada, bob, "member")
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/orgs/ends_org")
    await seeNote(page, "bob_stays has another role now", () =>
      page.getByLabel("Role of bob_stays").selectOption("owner"),
    )
    expect((await bob.client.listMyMemberships({})).data[0]?.role).toBe("owner")
    await page.getByRole("link", { name: "Settings" }).click()
    await page.getByLabel("About ends_org").fill("It ends soon")
    await seeNote(page, "Saved", () => page.getByRole("button", { name: "Save" }).click())
    await page.getByRole("button", { name: "Delete…" }).click()
    const form = page.getByRole("dialog", { name: "Delete ends_org?" })
    const button = form.getByRole("button", { name: "Delete permanently" })
    expect(await button.isDisabled()).toBe(true)
    await form.getByLabel("Type its name").fill("ends_org")
    await seeNote(page, "ends_org is deleted", () => button.click())
    await page.waitForURL("**/account/organisations")
    await page.getByText("You belong to none yet.").waitFor()
    expect(tab.problems).toEqual([])
  })
})

type Role = "owner" | "member" | "viewer"

async function signIn(page: Page, { token }: Person): Promise<void> {
  await page.goto("/sign-in")
  await page.getByLabel("Token").fill(token)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
}
