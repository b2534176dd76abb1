import type { Page } from "playwright-core"
import type { SeededPages } from "./seed-pages.ts"

/** A page, and a text that shows when it is ready. */
export interface PageCase {
  readonly name: string
  readonly path: string | ((seeded: SeededPages) => string)
  readonly text: string
  readonly before?: (page: Page) => Promise<void>
}

const ofVal = (rest: string) => (seeded: SeededPages) => `/u/ada/${seeded.name}${rest}`
const ofOrg =
  (before: string, after = "") =>
  (seeded: SeededPages) =>
    `${before}${seeded.orgName}${after}`
/** The pages by viewer. */
export const pageCases: Readonly<
  Record<"visitor" | "ada" | "newcomer" | "grace" | "viewer" | "administrator", readonly PageCase[]>
> = {
  visitor: [
    { name: "home", path: "/", text: "Small programs, running" },
    { name: "sign-in", path: "/sign-in", text: "Token" },
    {
      name: "response of a provider",
      path: "/sign-in/provider?code=x",
      text: "did not begin in this tab",
    },
    { name: "a program asks", path: "/oauth/authorize", text: "Sign in to see which" },
    { name: "code of a program", path: "/oauth/device", text: "Code that the program shows" },
    { name: "invitation", path: "/invitation#code=x", text: "Choose a name" },
    { name: "link into an organisation", path: "/join#code=x", text: "Sign in to join it" },
    { name: "a page for others", path: "/runs", text: "Sign in to see this" },
    { name: "explore", path: "/search", text: "Squares numbers" },
    { name: "explore by likes", path: "/search?sort=likes", text: "Squares numbers" },
    { name: "search", path: "/search?q=square", text: "square:" },
    {
      name: "search without hits",
      path: "/search?q=nothing_is_called_so",
      text: "No val matches",
    },
    { name: "templates", path: "/templates", text: "Link shortener" },
    { name: "template", path: "/templates/guestbook", text: "Sign in to use it" },
    { name: "template of several files", path: "/templates/app", text: "handleItems" },
    { name: "guide", path: "/guide", text: "Keep a secret" },
    { name: "documentation", path: "/docs/sqlite", text: "As Markdown" },
    { name: "search in the documentation", path: "/docs/vals?q=schedule", text: "Schedules:" },
    { name: "no page of the documentation", path: "/docs/nothing", text: "Not found" },
    { name: "API reference", path: "/docs", text: "All addresses begin with" },
    {
      name: "operation of the API",
      path: "/docs#createVal",
      text: "Needs a token",
      before: async (page) => {
        await page.getByRole("button", { name: "Try it" }).click()
        await page.getByRole("button", { name: "Send POST" }).click()
        await page.getByRole("region", { name: "Response body" }).waitFor()
        await page.locator(".nested summary").first().click()
      },
    },
    { name: "user", path: "/u/ada", text: "Writes notes on engines" },
    { name: "val", path: ofVal(""), text: "Read only" },
    { name: "embed", path: (seeded) => `/embed/ada/${seeded.name}`, text: "Says which numbers" },
    { name: "not found", path: "/u/no_such_user", text: "Not found" },
    { name: "nothing to embed", path: "/embed/no_user/at_all", text: "Not found" },
  ],
  ada: [
    { name: "home", path: "/", text: "val_3" },
    {
      name: "home without hits",
      path: "/?q=nothing_is_called_so",
      text: "No val matches",
    },
    {
      name: "user with a long name",
      path: (seeded) => `/u/${seeded.otherName}`,
      text: "export default it",
    },
    { name: "val, code", path: ofVal(""), text: "Says which numbers" },
    { name: "val with a preview", path: "/u/ada/page", text: "new Response" },
    { name: "val with several files", path: "/u/ada/several", text: "a_file_of_a_folder.ts" },
    { name: "val, readme", path: ofVal("/readme"), text: "What it does" },
    { name: "val, versions", path: ofVal("/versions"), text: "current" },
    { name: "val, versions of files", path: "/u/ada/branched/versions", text: "v4 to v6" },
    { name: "val, branches", path: "/u/ada/branched/branches", text: "of the branch" },
    { name: "val, no branches", path: "/u/ada/page/branches", text: "There is only main" },
    {
      name: "val, menu of branches",
      path: "/u/ada/branched",
      text: "New branch from main",
      before: (page) => page.getByRole("button", { name: "Branch main" }).click(),
    },
    {
      name: "val, merge with a conflict",
      path: "/u/ada/branched/branches",
      text: "1 to decide",
      before: async (page) => {
        await page.getByRole("button", { name: "Merge into main…" }).click()
        await page.getByRole("button", { name: "Merge into main", exact: true }).click()
        await page.getByRole("textbox", { name: /^Result of/ }).waitFor()
      },
    },
    { name: "val, runs", path: ofVal("/runs"), text: "no number was given" },
    { name: "val, discussion", path: ofVal("/discussion"), text: "Thanks!" },
    { name: "val, graph", path: ofVal("/graph"), text: "Imported by" },
    {
      name: "val, share",
      path: ofVal(""),
      text: "Who can open it",
      before: (page) => page.getByRole("button", { name: "Share" }).click(),
    },
    { name: "val, settings", path: ofVal("/settings"), text: "Delete this val" },
    {
      name: "val, delete",
      path: ofVal("/settings"),
      text: "to confirm",
      before: (page) => page.getByRole("button", { name: "Delete…" }).click(),
    },
    { name: "runs", path: "/runs", text: "no number was given" },
    {
      name: "runs without hits",
      path: "/runs?text=nothing_is_called_so",
      text: "Clear the filters",
    },
    { name: "live logs", path: "/runs/live", text: "that is all" },
    {
      name: "run that succeeded",
      path: (seeded) => `/runs/${seeded.runIds.succeeded}`,
      text: "that is all",
    },
    {
      name: "run that failed",
      path: (seeded) => `/runs/${seeded.runIds.failed}`,
      text: "no number was given",
    },
    {
      name: "replay with changes",
      path: (seeded) => `/runs/${seeded.runIds.request}`,
      text: "are not kept with a run",
      before: (page) => page.getByRole("button", { name: "Replay with changes…" }).click(),
    },
    { name: "schedules", path: "/schedules", text: "Europe/Berlin" },
    { name: "val, schedule", path: "/u/ada/ticks/schedule", text: "Europe/Berlin" },
    { name: "webhooks", path: "/webhooks", text: "For the log" },
    {
      name: "new webhook",
      path: "/webhooks",
      text: "a comment was written",
      before: (page) => page.getByRole("button", { name: "New webhook" }).click(),
    },
    { name: "webhook", path: (seeded) => `/webhooks/${seeded.webhookId}`, text: "Deliveries" },
    {
      name: "delivery",
      path: (seeded) => `/webhooks/${seeded.webhookId}/${seeded.deliveryId}`,
      text: "Send again",
    },
    { name: "mail", path: "/mail", text: "Daily report" },
    { name: "received mail", path: "/mail/incoming", text: "test message" },
    { name: "val, mail", path: "/u/ada/inbox/mail", text: "Send a test message" },
    {
      name: "run of a mail",
      path: (seeded) => `/runs/${seeded.runIds.mail}`,
      text: "Test message",
    },
    {
      name: "shortcuts",
      path: "/guide",
      text: "On the page of a val",
      before: (page) => page.keyboard.press("?"),
    },
    { name: "tables", path: "/data?table=links", text: "https://example.com/long" },
    {
      name: "query that fails",
      path: "/data",
      text: "no such table",
      before: async (page) => {
        await page.getByLabel("SQL statement").fill("select * from nowhere")
        await page.getByRole("button", { name: "Run", exact: true }).click()
      },
    },
    { name: "blobs", path: "/data/blobs", text: "notes/today.json" },
    {
      name: "blob",
      path: "/data/blobs",
      text: "seeded",
      before: (page) => page.getByRole("button", { name: "notes/today.json" }).click(),
    },
    { name: "profile", path: "/account", text: "About you" },
    { name: "tokens", path: "/account/tokens", text: "a token whose name is long" },
    {
      name: "new token",
      path: "/account/tokens",
      text: "create and change vals",
      before: (page) => page.getByRole("button", { name: "New token" }).click(),
    },
    { name: "secrets", path: "/account/secrets", text: "api.example.com" },
    {
      name: "new secret",
      path: "/account/secrets",
      text: "Only for these hosts",
      before: (page) => page.getByRole("button", { name: "New secret" }).click(),
    },
    { name: "notifications", path: "/notifications", text: "commented on" },
    { name: "usage", path: "/account/usage", text: "Runs at once" },
    { name: "programs", path: "/account/programs", text: "No program acts for you" },
    {
      name: "unknown program",
      path: "/oauth/authorize?client_id=x",
      text: "is not registered here",
    },
    { name: "no organisations", path: "/account/organisations", text: "You belong to none yet" },
    { name: "link into an organisation", path: "/join#code=x", text: "You see its name after" },
    { name: "sessions", path: "/account/sessions", text: "Sign out everywhere" },
    { name: "no such part", path: "/account/nothing", text: "Not found" },
  ],
  newcomer: [
    { name: "home", path: "/", text: "Welcome, newcomer" },
    { name: "palette", path: "/", text: "API reference", before: openPalette },
    {
      name: "menu",
      path: "/",
      text: "Sign out",
      before: (page) => page.getByRole("button", { name: "Account of newcomer" }).click(),
    },
    { name: "new", path: "/new", text: "Or start with a template" },
    { name: "runs", path: "/runs", text: "No runs in this period" },
    { name: "live logs", path: "/runs/live", text: "Nothing has been logged yet" },
    { name: "schedules", path: "/schedules", text: "No schedules" },
    { name: "mail", path: "/mail", text: "No mail yet" },
    { name: "received mail", path: "/mail/incoming", text: "No mail has come" },
    { name: "webhooks", path: "/webhooks", text: "No webhooks" },
    { name: "data", path: "/data", text: "No tables yet" },
    { name: "blobs", path: "/data/blobs", text: "No blobs" },
    { name: "secrets", path: "/account/secrets", text: "No secrets" },
    { name: "user", path: "/u/newcomer", text: "has no vals that you can see" },
  ],
  grace: [
    {
      name: "organisations",
      path: "/account/organisations",
      text: "Act for yourself",
      before: (page) =>
        page.getByRole("button", { name: "Act for an_organisation_of_30_letters_" }).click(),
    },
    { name: "home of an organisation", path: "/", text: "Vals of an_organisation" },
    {
      name: "menu of owners",
      path: "/",
      text: "People in an_organisation",
      before: async (page) => {
        await page.keyboard.press("g")
        await page.keyboard.press("o")
      },
    },
    {
      name: "new organisation",
      path: "/account/organisations",
      text: "Public, on its page",
      before: (page) => page.getByRole("button", { name: "New organisation" }).click(),
    },
    { name: "organisation", path: ofOrg("/u/"), text: "endless" },
    { name: "people of an organisation", path: ofOrg("/orgs/"), text: "Open links" },
    {
      name: "invite into an organisation",
      path: ofOrg("/orgs/"),
      text: "Only an account that has confirmed",
      before: async (page) => {
        await page.getByRole("button", { name: "Invite", exact: true }).click()
        await page.getByLabel("How").selectOption("link")
      },
    },
    {
      name: "settings of an organisation",
      path: ofOrg("/orgs/", "/settings"),
      text: "to confirm",
      before: (page) => page.getByRole("button", { name: "Delete…" }).click(),
    },
    { name: "new val of an organisation", path: "/new", text: "Or start with a template" },
    {
      name: "new token for an organisation",
      path: "/account/tokens",
      text: "this token will work for",
      before: (page) => page.getByRole("button", { name: "New token" }).click(),
    },
  ],
  viewer: [
    { name: "home with an invitation", path: "/", text: "invites you as a member" },
    { name: "organisations", path: "/account/organisations", text: "you are a viewer" },
    { name: "people", path: ofOrg("/orgs/"), text: "Owners invite and remove people" },
    { name: "settings", path: ofOrg("/orgs/", "/settings"), text: "Only owners of" },
    { name: "val", path: (seeded) => `/u/${seeded.orgName}/${seeded.name}`, text: "Read only" },
    {
      name: "data",
      path: "/data",
      text: "does not allow queries",
      before: async (page) => {
        await page.getByRole("button", { name: /^Acting for/ }).click()
        await page.getByRole("menuitemradio", { name: /^an_organisation/ }).click()
      },
    },
    { name: "secrets", path: "/account/secrets", text: "Viewers cannot change them" },
    { name: "new", path: "/new", text: "Viewers cannot create vals" },
  ],
  administrator: [
    { name: "nodes", path: "/nodes", text: "Memory of vals" },
    { name: "people", path: "/people", text: "newcomer" },
    {
      name: "person",
      path: "/people",
      text: "Save quotas",
      before: (page) => page.getByRole("link", { name: "newcomer", exact: true }).click(),
    },
    {
      name: "invite",
      path: "/people",
      text: "Create invitation",
      before: (page) => page.getByRole("button", { name: "Invite" }).click(),
    },
  ],
}

/** The page handles the key once it is rendered; fetched data is rendered later. */
async function openPalette(page: Page): Promise<void> {
  await page.getByText("Welcome, newcomer").waitFor()
  await page.keyboard.press("Control+k")
}
