import { describe, expect, test } from "bun:test"
import type { AttackScene } from "./attack-scene.ts"
import { endlessMarkdown, hostileMarkdown, hostileText, hostileTexts } from "./hostile-texts.ts"
import { hostileHttp, hostileScript } from "./hostile-vals.ts"

/** Attacks by texts of one user that another user sees. */
export function attackByTexts(at: () => AttackScene): void {
  describe("by texts that other users see", () => {
    test("a hostile readme and hostile comments become text and links only", async () => {
      const { eve, expectNothing, show, tab } = at()
      const val = await eve.client.createVal({
        name: "tricks",
        code: "export default 1\n",
        privacy: "public",
        readme: hostileMarkdown.join("\n\n"),
      })
      for (const comment of hostileMarkdown)
        await eve.client.createComment({ val_id: val.id, comment })
      for (const part of ["readme", "discussion"]) {
        await show(`/u/eve/tricks/${part}`, "canary(1)")
        const found = await tab.page
          .locator(".markdown")
          .evaluateAll((roots) =>
            roots.flatMap((root) =>
              [...root.querySelectorAll("*")].flatMap((element) => [
                element.localName,
                ...element.getAttributeNames().map((name) => `${name}=`),
              ]),
            ),
          )
        const names = new Set(found)
        for (const name of "script style iframe object embed form input button link meta base svg math img video audio source template".split(
          " ",
        ))
          expect(names).not.toContain(name)
        const attributes = [...names].filter((name) => name.endsWith("=")).sort()
        expect(
          attributes.filter(
            (name) =>
              !"align= href= is= rel= start= tabindex= target= title=".split(" ").includes(name),
          ),
        ).toEqual([])
        const links = await tab.page
          .locator(".markdown a")
          .evaluateAll((all) =>
            all.map((a) => [
              a.getAttribute("href") ?? "#",
              a.getAttribute("target"),
              a.getAttribute("rel"),
            ]),
          )
        for (const [href, target, rel] of links) {
          expect(href).toMatch(/^(https?:|mailto:|\/(?!\/)|#)/i)
          expect(`${target} ${rel}`).toMatch(/^_blank .*noopener/)
        }
        await expectNothing()
      }
    })

    test("a comment that overflows the parser does not break the page", async () => {
      const { eve, expectNothing, show, tab } = at()
      const val = await eve.client.createVal({
        name: "endless",
        code: "export default 1\n",
        privacy: "public",
      })
      for (const comment of endlessMarkdown)
        await eve.client.createComment({ val_id: val.id, comment })
      await eve.client.createComment({ val_id: val.id, comment: "still here" })
      await show("/u/eve/endless/discussion", "still here")
      expect(await tab.page.getByRole("heading", { level: 1 }).count()).toBe(1)
      await expectNothing()
    })

    test("names, code, bios, tokens and search are shown as text", async () => {
      const { ada, eve, expectNothing, show, tab } = at()
      expect(
        await status(eve.client.createVal({ name: "<svg onload=canary(1)>", code: "1" })),
      ).toBe(400)
      await ada.client.putSecret({ name: "<script>canary(1)</script>", value: "x" })
      await eve.client.createVal({
        name: "shown",
        code: `// ${hostileText}\nexport default 1\n`,
        privacy: "public",
        readme: hostileText,
      })
      await eve.client.updateMe({ bio: hostileText })
      for (const name of hostileTexts)
        await ada.client.createToken({ name: name.slice(0, 90), scopes: ["val:read"] })
      await show("/search", "canary(")
      await show("/u/eve", "canary(")
      await show("/u/eve/shown", "canary(")
      await show("/account/tokens", "canary(")
      await show("/account/secrets", "canary(")
      await show("/search", "canary(")
      for (const text of hostileTexts) {
        const query = text.slice(0, 20)
        await tab.page.getByRole("searchbox").fill(query)
        await tab.page.waitForURL((url) => url.searchParams.get("q") === query)
        await tab.page.locator("mark").filter({ hasText: query.trim() }).first().waitFor()
      }
      await expectNothing()
    })

    test("logs, returned values and errors of a run are shown as text", async () => {
      const { ada, expectNothing, show, tab } = at()
      const val = await ada.client.createVal({
        name: "hostile_run",
        code: hostileScript(hostileText),
      })
      for (const kind of ["tree", "table", "picture", "drawing", "error"]) {
        const { id } = await ada.client.createRun({ val_id: val.id, args: [kind] })
        await show(`/runs/${id}`, "canary(")
        const table = tab.page.getByRole("button", { name: "Table" })
        if (kind === "table") await table.click()
        expect(await tab.page.locator('img[src^="data:image/svg"]').count()).toBe(0)
      }
      await show("/runs", "canary(")
      await show("/u/ada/hostile_run/runs", "canary(")
      await show("/u/ada/hostile_run", "hostile_run")
      await tab.page.getByLabel("Arguments as JSON").fill('["table"]')
      await tab.page.getByRole("button", { name: "Run", exact: true }).click()
      await tab.page.getByText("Succeeded").first().waitFor()
      await expectNothing()
    })

    test("a user agent is shown as text", async () => {
      const { ada, expectNothing, open, show } = at()
      await using other = await open(ada, { userAgent: hostileTexts[1] })
      await show("/account/sessions", hostileTexts[1].slice(0, 40))
      expect(other.problems).toEqual([])
      await expectNothing()
    })

    test("the response of a val is shown as text, in the frame and as a response", async () => {
      const { ada, expectNothing, show, tab } = at()
      const val = await ada.client.createVal({
        name: "hostile_http",
        code: hostileHttp(hostileText),
        type: "http",
        privacy: "public",
      })
      await fetch(`${val.links.endpoint}/?<svg onload=canary(1)>`)
      for (const path of ["/", "/svg", "/redirect", "/refresh"]) {
        await tab.page.goto("/u/ada/hostile_http")
        await tab.page.getByRole("tab", { name: "Response" }).click()
        await tab.page.getByLabel("Path", { exact: true }).fill(path)
        await tab.page.getByRole("button", { name: "Send" }).click()
        await tab.page.getByText(/\d+ headers/).click()
        await tab.page.locator(".header-list").getByText("x-hostile").waitFor()
        await expectNothing()
      }
      const { data } = await ada.client.listMyRuns({ val_id: val.id, limit: 100 })
      for (const { id } of data.slice(-3)) await show(`/runs/${id}`, "Request")
      await expectNothing()
    })
  })
}

async function status(call: Promise<unknown>): Promise<number> {
  return call.then(
    () => 200,
    (error: { status: number }) => error.status,
  )
}
