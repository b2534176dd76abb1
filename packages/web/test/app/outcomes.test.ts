import { expect, test } from "bun:test"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { findTab, makeFiles, openVal } from "../support/files-page.ts"
import { makeVal } from "../support/val-page.ts"

describeApp("how runs ended", (app) => {
  test("the drawer shows the error of a failed run, and its stack leads into the files", async () => {
    const owner = await app.stage.person("ada")
    await using own = await app.open(owner)
    const { page } = own
    const { path } = await makeFiles(owner, {
      "main.tsx": `import { fail } from "./lib/fail.ts"\nexport default () => fail()\n`,
      "lib/fail.ts": `// one\n// two\nexport function fail() {\n  throw new RangeError("too far")\n}\n`,
    })
    await openVal(page, path)
    await page.keyboard.press("Control+Enter")
    const drawer = page.locator("#log-drawer")
    const toggle = drawer.getByRole("button", { name: "Runs and logs" })
    if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click()
    const error = drawer.locator(".run-error")
    await error.getByText("RangeError: too far").waitFor()
    // Both of a run that was just started, and of one that is listed.
    await page.reload()
    await error.getByText("RangeError: too far").waitFor()
    await drawer.locator(".run-result-bad").getByText("failed").waitFor()
    await expectNoBarriers(page)
    await error.getByRole("link", { name: /lib\/fail\.ts:4/ }).click()
    await eventually(
      () => findTab(page, "fail.ts").getAttribute("aria-selected"),
      (isSelected) => expect(isSelected).toBe("true"),
    )
    await page.locator(".cm-activeLine:visible").getByText("too far").waitFor()
    expect(own.problems).toEqual([])
  })

  test("lists say which file ran, and Home what was asked and how it ended", async () => {
    const owner = await app.stage.person("grace")
    await using own = await app.open(owner)
    const { page } = own
    const { client } = owner
    const val = await makeVal(owner, { code: "export default () => 1\n" })
    const content = `export default (request: Request) => {
  const status = Number(new URL(request.url).searchParams.get("status"))
  return new Response("", { status })
}\n`
    await client.changeFiles({
      val_id: val.id,
      changes: [{ path: "api.http.ts", type: "http", content }],
    })
    for (const status of [200, 404, 503])
      await client.sendValRequest({
        val_id: val.id,
        file: "api.http.ts",
        method: "GET",
        path: `/?status=${status}`,
        headers: [],
      })
    await client.createRun({ val_id: val.id, args: [] })
    await page.goto("/runs")
    const row = (text: string) => page.locator(".run-row").filter({ hasText: text })
    await row("status=404").locator(".run-file").getByText("api.http.ts").waitFor()
    for (const [text, look] of [
      ["status=200", "good"],
      ["status=404", "doubtful"],
      ["status=503", "bad"],
    ] as const)
      await row(text).locator(`.run-result-${look}`).waitFor()
    await expectNoBarriers(page)
    await page.getByRole("link", { name: "Home", exact: true }).click()
    const latest = page.getByRole("region", { name: "Latest runs" })
    await latest.getByRole("link", { name: /GET \/\?status=404.*404/ }).waitFor()
    await latest.getByRole("link", { name: /succeeded/ }).waitFor()
    await expectNoBarriers(page)
    expect(own.problems).toEqual([])
  })
})
