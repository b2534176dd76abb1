import { afterAll, beforeEach, expect, test } from "bun:test"
import { hostname } from "node:os"
import { openOidcProvider } from "../../../../scripts/testing/oidc-provider.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"

const provider = await openOidcProvider()
afterAll(() => provider[Symbol.asyncDispose]())

/** The browser visits the provider, which is what these tests are about. */
function problemsOf({ problems }: { readonly problems: readonly string[] }): readonly string[] {
  return problems.filter((problem) => !problem.startsWith(`request to ${provider.issuer}/`))
}

describeApp(
  "signing in with a provider, and people",
  (app) => {
    beforeEach(() => {
      provider.account = "grace"
    })

    test("a newcomer chooses a name, and is signed in at the page they wanted", async () => {
      await using tab = await app.open()
      const { page } = tab
      await page.goto("/schedules?x=1")
      await page.getByRole("button", { name: "Sign in with Corp" }).click()
      await page.getByRole("heading", { name: "Choose a name" }).waitFor()
      expect(new URL(page.url()).search).toBe("")
      await expectNoBarriers(page)
      await eventually(
        () => page.getByLabel("Name").inputValue(),
        (found) => expect(found).toBe("grace"),
      )
      await page.getByRole("button", { name: "Create account" }).click()
      await page.getByRole("button", { name: "Account of grace" }).waitFor()
      await page.waitForURL("**/schedules?x=1")
      await using other = await app.open()
      await other.page.goto("/sign-in")
      await other.page.getByRole("button", { name: "Sign in with Corp" }).click()
      await other.page.getByRole("button", { name: "Account of grace" }).waitFor()
      await other.page.waitForURL(`${app.stage.url}/`)
      expect([...problemsOf(tab), ...problemsOf(other)]).toEqual([])
    })

    test("who has no invitation reads that they need one, and who has one joins with it", async () => {
      provider.account = "unverified_outsider"
      await using tab = await app.open()
      const { page } = tab
      await page.goto("/sign-in")
      await page.getByRole("button", { name: "Sign in with Corp" }).click()
      await page.getByRole("heading", { name: "You need an invitation" }).waitFor()
      const { url } = await app.stage.admin.client.createInvitation({})
      await page.goto(url)
      await page.getByRole("button", { name: "Accept with Corp" }).click()
      // The page of the invitation has a heading and a field of the same names.
      const create = page.getByRole("button", { name: "Create account" })
      await create.waitFor()
      await page.getByLabel("Name").fill("outsider")
      await create.click()
      await page.getByRole("button", { name: "Account of outsider" }).waitFor()
    })

    test("a response that began in another tab signs nobody in", async () => {
      await using tab = await app.open()
      await tab.page.goto(`/sign-in/provider?code=stolen&state=x&to=//elsewhere.example`)
      await tab.page.getByRole("alert").filter({ hasText: "did not begin in this tab" }).waitFor()
      expect(new URL(tab.page.url()).search).toBe("")
      expect(await tab.context.cookies()).toEqual([])
      await expectNoBarriers(tab.page)
    })

    test("a user links an account of the provider, and unlinks it", async () => {
      provider.account = "linked"
      const ada = await app.stage.person("ada")
      await using tab = await app.open(ada)
      const { page } = tab
      page.on("dialog", (dialog) => void dialog.accept())
      await page.goto("/account/sessions")
      await page.getByRole("button", { name: "Link an account" }).click()
      // A note names the account as well.
      const row = page.getByRole("listitem").filter({ hasText: "linked@corp.example" })
      await row.getByRole("button", { name: "Unlink" }).click()
      await page.getByText("No account is linked.").waitFor()
      expect(problemsOf(tab)).toEqual([])
    })

    test("an administrator invites, sets quotas, suspends and lifts the suspension", async () => {
      const eve = await app.stage.person("eve")
      await using tab = await app.openOwn()
      const { page } = tab
      await page.goto("/people")
      await page.getByRole("button", { name: "Invite" }).click()
      const form = page.getByRole("dialog", { name: "Invite a person" })
      await form.getByLabel("Note").fill("Grace")
      await form.getByLabel("Email", { exact: true }).fill("grace@example.com")
      await form.getByText("Quotas").click()
      await form.getByLabel("Runs per minute").fill("7")
      await form.getByRole("button", { name: "Create invitation" }).click()
      await page.getByText("Send this link to the person").waitFor()
      const { data } = await app.stage.admin.client.listInvitations({})
      expect(data[0]).toMatchObject({ note: "Grace", quotas: { runsPerMinute: 7 } })
      await seeNote(page, "The invitation is revoked", () =>
        page.getByRole("button", { name: "Revoke Grace" }).click(),
      )
      await page.getByRole("link", { name: "eve", exact: true }).click()
      await page.getByRole("heading", { name: "People / eve" }).waitFor()
      await page.getByLabel("Blobs, in MB").fill("5")
      await seeNote(page, "The quotas are saved", () =>
        page.getByRole("button", { name: "Save quotas" }).click(),
      )
      await page.getByText("0 bytes of 5.0 MB").first().waitFor()
      await page.getByRole("button", { name: "Suspend…" }).click()
      await page.getByLabel("Reason").fill("spam")
      await page.getByRole("button", { name: "Suspend", exact: true }).click()
      await page.getByText("Suspended", { exact: true }).waitFor()
      await expect(eve.client.getMe()).rejects.toMatchObject({ code: "user_suspended" })
      await page.getByRole("button", { name: "Lift the suspension" }).click()
      await page.getByText("Active", { exact: true }).waitFor()
      expect((await eve.client.getMe()).username).toBe("eve")
      await page.getByRole("button", { name: "Account of root" }).click()
      await page.getByRole("menuitem", { name: "Nodes" }).click()
      await page.getByRole("heading", { name: hostname(), exact: true }).waitFor()
      await page.getByText("Active", { exact: true }).waitFor()
      await using hers = await app.open(eve)
      for (const path of ["/people", "/nodes"]) {
        await hers.page.goto(path)
        await hers.page.getByText("Not found").first().waitFor()
      }
      expect(problemsOf(tab)).toEqual([])
    })
  },
  { ...provider.env, HAMLET_OIDC_DOMAINS: "corp.example" },
)
