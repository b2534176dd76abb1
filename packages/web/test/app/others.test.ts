import { beforeAll, expect, test } from "bun:test"
import type { Person } from "../../dev/app-stage.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"

describeApp("other users", (app) => {
  let ada: Person
  let bob: Person
  beforeAll(async () => {
    ada = await app.stage.person("ada")
    bob = await app.stage.person("bob")
    await ada.client.updateMe({ bio: "Writes <i>small</i> programs" })
    const base = await ada.client.createVal({
      name: "base",
      code: baseCode,
      privacy: "public",
      readme: "# Base\n\nWhat **others** build upon",
    })
    await ada.client.createVal({
      name: "diary",
      code: "export default 'not for you'",
      privacy: "private",
    })
    const middle = await bob.client.createVal({
      name: "middle",
      code: `import base from "${base.links.module}"\nexport default base\n`,
      privacy: "public",
    })
    await bob.client.createVal({
      name: "top",
      code: `import middle from "${middle.links.module}"\nexport default middle\n`,
      privacy: "public",
    })
  })

  test("a signed-out visitor sees public users and vals, and cannot change them", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/")
    await page.getByRole("link", { name: "ada/base" }).click()
    await page.getByText("Read only", { exact: true }).waitFor()
    await page.locator(".cm-content").filter({ hasText: "a ?. b" }).waitFor()
    await eventually(
      () => page.getByRole("button", { name: /likes/ }).isDisabled(),
      (found) => expect(found).toBe(true),
    )
    expect(await page.getByRole("button", { name: /Save|Fork/ }).count()).toBe(0)
    await page.getByRole("link", { name: "Discussion" }).click()
    await page.getByText("to comment").waitFor()
    await page.getByRole("link", { name: "ada", exact: true }).click()
    await page.getByText("Writes <i>small</i> programs").waitFor()
    await page.getByText("What others build upon").waitFor()
    await eventually(
      () => page.locator(".val-list .table-name").allTextContents(),
      (found) => expect(found).toEqual(["ada/base"]),
    )
    await page.goto("/u/ada/diary")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/u/ada/base/settings")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/runs")
    await page.getByText("Sign in to see this").waitFor()
    const response = await page.goto("/no/such/page?x=1")
    expect(response?.status()).toBe(404)
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/u/not%20a%20name/at-all")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("a page of another site calls the API with the official client, and with custom headers", async () => {
    const built = await Bun.build({
      entrypoints: [Bun.resolveSync("@valtown/sdk", import.meta.dir)],
      target: "browser",
      format: "esm",
    })
    const script = await built.outputs[0]?.text()
    await using site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) =>
        request.url.endsWith("/sdk.js")
          ? new Response(script, { headers: { "content-type": "text/javascript" } })
          : new Response("<!doctype html><title>Elsewhere</title>", {
              headers: { "content-type": "text/html" },
            }),
    })
    await using tab = await app.open()
    await tab.page.goto(site.url.href)
    const seen = await tab.page.evaluate(callWithOfficialClient, {
      baseURL: app.stage.url,
      bearerToken: bob.token,
    })
    expect(seen).toEqual({
      username: "bob",
      saved: "fromElsewhere",
      listed: ["base", "fromElsewhere", "middle", "top"],
      read: 200,
    })
    await bob.client.deleteVal({
      val_id: (await bob.client.getValByName({ username: "bob", val_name: "fromElsewhere" })).id,
    })
  })

  test("a user likes a val, comments on it, and undoes both", async () => {
    await using tab = await app.open(bob)
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/u/ada/base")
    const like = page.getByRole("button", { name: /likes/ })
    await like.click()
    await page.getByRole("button", { name: "1 likes", pressed: true }).waitFor()
    await page.reload()
    await page.getByRole("button", { name: "1 likes", pressed: true }).click()
    await page.getByRole("button", { name: "0 likes", pressed: false }).waitFor()

    await page.getByRole("link", { name: "Discussion" }).click()
    await page
      .getByLabel("Your comment")
      .fill("Thanks, **really**.\n\n<img src=x>\n\n[a link](https://example.com/x)")
    await page.getByRole("button", { name: "Preview" }).click()
    await page.locator(".card strong").filter({ hasText: "really" }).waitFor()
    await page.getByRole("button", { name: "Comment", exact: true }).click()
    const comment = page.getByRole("listitem").filter({ hasText: "bob" })
    await comment.locator("strong").filter({ hasText: "really" }).waitFor()
    expect(await comment.getByRole("link", { name: "a link" }).getAttribute("rel")).toContain(
      "noopener",
    )
    expect(await comment.locator("img").count()).toBe(0)
    await comment.getByRole("button", { name: "Delete" }).click()
    await page.getByText("No comments yet").waitFor()
    expect(tab.problems).toEqual([])
  })

  test("the graph links from val to val", async () => {
    await using tab = await app.open(bob)
    const { page } = tab
    await page.goto("/u/ada/base/graph")
    const drawing = page.locator(".graph")
    await drawing.getByRole("link", { name: "bob/middle, imports it" }).click()
    await page.waitForURL("**/u/bob/middle/graph")
    await drawing.getByRole("link", { name: "bob/top, imports it" }).waitFor()
    await drawing.getByRole("link", { name: "ada/base, is imported" }).waitFor()
    await drawing.getByRole("link", { name: "bob/top, imports it" }).focus()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/u/bob/top/graph")
    await page
      .getByRole("region", { name: "Imports" })
      .getByRole("link", { name: "bob/middle" })
      .waitFor()
    await eventually(
      () => drawing.getByRole("link").count(),
      (count) => expect(count).toBe(1),
    )
    expect(tab.problems).toEqual([])
  })

  test("a search marks its matches, letters or not", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/search")
    await page.getByRole("link", { name: "ada/base" }).waitFor()
    const box = page.getByRole("searchbox")
    const marks = page.locator("mark")
    for (const query of ["a ?. b", "OTHERS", `"100%_\\`, "base"]) {
      await box.fill(query)
      await marks
        .filter({ hasText: query.toLowerCase() === "others" ? "others" : query })
        .first()
        .waitFor()
      await page.waitForURL((url) => url.searchParams.get("q") === query)
      await page.getByRole("link", { name: "ada/base" }).waitFor()
    }
    await page.goto("/search?q=not+for+you")
    await page.getByText("No val matches").waitFor()
    await page.getByRole("link", { name: "Explore" }).click()
    await page.getByRole("link", { name: "ada/base" }).waitFor()
    await eventually(
      () => box.inputValue(),
      (value) => expect(value).toBe(""),
    )
    expect(tab.problems).toEqual([])
  })

  test("only the embed page can be framed by another site", async () => {
    await using tab = await app.open(bob)
    const { page } = tab
    const frames = ["/embed/ada/base", "/embed/ada/diary", "/u/ada/base"].map(
      (path) => `<iframe src="${app.stage.url}${path}"></iframe>`,
    )
    // Another host is another site for the browser.
    await using site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () =>
        new Response(`<!doctype html>${frames.join("")}`, {
          headers: { "content-type": "text/html" },
        }),
    })
    await page.goto(site.url.href)
    const [embedded, secret] = [0, 1].map((index) => page.frameLocator("iframe").nth(index))
    await embedded?.getByRole("heading", { name: "ada/base" }).waitFor()
    await embedded?.locator(".cm-content").filter({ hasText: "a ?. b" }).waitFor()
    expect(await embedded?.getByRole("link", { name: "ada/base" }).getAttribute("target")).toBe(
      "_blank",
    )
    await secret?.getByRole("heading", { name: "Not found" }).waitFor()
    const addresses = () => page.frames().map((frame) => frame.url())
    await eventually(addresses, (urls) =>
      expect(urls.filter((url) => url.startsWith("chrome-error:"))).toHaveLength(1),
    )
    expect(addresses()).not.toContain(`${app.stage.url}/u/ada/base`)
    const expected = new RegExp(`request to ${site.url.origin}|frame-ancestors|X-Frame-Options`)
    expect(tab.problems.filter((problem) => !expected.test(problem))).toEqual([])
  })
})

const baseCode = `// a ?. b, "100%_\\\\ <script>"
export default function base() {
  return "base"
}
`

/** Runs in the page: calls the API with the official client, and with an unknown header. */
async function callWithOfficialClient({
  baseURL,
  bearerToken,
}: {
  baseURL: string
  bearerToken: string
}) {
  // Not a literal, so that no bundler resolves it.
  const { default: ValTown } = await import(new URL("/sdk.js", location.href).href)
  const client = new ValTown({ baseURL, bearerToken, maxRetries: 0 })
  const { username } = await client.me.profile.retrieve()
  const body = { name: "fromElsewhere", code: "export default 1", privacy: "public" }
  const { name: saved } = await client.put("/v1/vals", { body })
  const { data } = await client.get("/v1/vals", { query: { limit: 100 } })
  const { status: read } = await fetch(`${baseURL}/v1/vals`, {
    headers: { "x-of-another-client": "1" },
  })
  return { username, saved, listed: data.map(({ name }: { name: string }) => name).sort(), read }
}
