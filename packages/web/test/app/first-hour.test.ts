import { expect, test } from "bun:test"
import { readFile } from "node:fs/promises"
import type { Locator, Page } from "playwright-core"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"
import { defineFolders } from "./first-hour/folders.ts"

const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

describeApp("data, templates, folders, notifications and the API reference", (app) => {
  defineFolders(app)

  test("tables are created, filled, queried and exported", async () => {
    await using tab = await app.open(await app.stage.person("ada"))
    const { page } = tab
    await page.goto("/data")
    const tables = page.getByRole("navigation", { name: "Tables" })
    await tables.getByText("No tables yet").waitFor()
    await execute(page, "create table links (slug text primary key, visits integer)")
    await tables.getByRole("button", { name: "links" }).click()
    await page.waitForURL("**/data?table=links")
    await page.getByText("No rows").waitFor()
    // Not the table of the server, which the first statement has created too.
    expect(await tables.getByRole("button").allTextContents()).toEqual(["links"])
    await execute(page, "insert into links values ('tea', 41), ('<b>bike</b>', null)")
    await page.getByRole("status").filter({ hasText: "2 rows changed in" }).waitFor()
    // The rows of the table are read again.
    const rows = page.getByRole("region", { name: "Rows of links" })
    await expectCells(rows, ["tea", "41", "<b>bike</b>", "null"])
    // A statement without a where asks before it changes every row.
    page.once("dialog", (dialog) => void dialog.dismiss())
    await execute(page, "delete from links")
    await execute(page, "select count(*) from links")
    await expectCells(page.getByRole("region", { name: "Result" }), ["2"])
    await execute(page, "select visits + 1 as next from links where slug = 'tea'")
    await expectCells(page.getByRole("region", { name: "Result" }), ["42"])
    await execute(page, "select * from nowhere")
    await page.getByRole("alert").filter({ hasText: "no such table: nowhere" }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ])
    expect(file.suggestedFilename()).toBe("links.csv")
    expect(await readFile(await file.path(), "utf8")).toBe(
      "slug,visits\r\ntea,41\r\n<b>bike</b>,\r\n",
    )
    expect(tab.problems).toEqual([])
  })

  test("what a val stores for itself is shown apart from what all vals share", async () => {
    const ada = await app.stage.person("adastore")
    const { id } = await ada.client.createVal({ name: "shop", code: "export default 1" })
    const inVal = { val_id: id }
    await ada.client.executeValSql({ ...inVal, statement: "create table orders (item text)" })
    await ada.client.executeValSql({ ...inVal, statement: "insert into orders values ('tea')" })
    await ada.client.putValBlob({ ...inVal, key: "note", content: "of the shop" })
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/u/adastore/shop")
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Data" }).click()
    await page.waitForURL("**/data?val=shop")
    await page.getByText("What shop stores for itself").waitFor()
    await page.getByRole("button", { name: "orders" }).click()
    await expectCells(page.getByRole("region", { name: "Rows of orders" }), ["tea"])
    await execute(page, "insert into orders values ('cake')")
    await page.getByRole("region", { name: "Rows of orders" }).getByText("cake").waitFor()
    await page.getByRole("link", { name: "Blobs" }).click()
    await page.getByRole("button", { name: "note" }).click()
    await page.getByRole("dialog").getByText("of the shop").waitFor()
    await page.keyboard.press("Escape")
    // What all vals share has none of it.
    await page.getByLabel("Val", { exact: true }).fill("")
    await page.keyboard.press("Enter")
    await page.waitForURL("**/data/blobs")
    await page.getByText("No blobs").waitFor()
    await page.getByRole("link", { name: "SQLite" }).click()
    await page.getByText("No tables yet").waitFor()
    await page.goto("/data?val=nowhere")
    await page.getByText("Not found").waitFor()
    await page.getByLabel("Val", { exact: true }).fill("shop")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "orders" }).waitFor()
  })

  test("blobs are uploaded, shown, found by their key and deleted", async () => {
    const bob = await app.stage.person("bob")
    await using tab = await app.open(bob)
    const { page } = tab
    await page.goto("/data/blobs")
    await page.getByText("No blobs").waitFor()
    const files = [
      { name: "notes.json", mimeType: "application/json", buffer: Buffer.from('{"tea":"green"}') },
      { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(dot, "base64") },
      { name: "bytes", mimeType: "application/octet-stream", buffer: Buffer.from([0xff, 0, 0xfe]) },
    ]
    await seeNote(page, "Stored 3 files", () =>
      page.getByLabel("Files to upload").setInputFiles(files),
    )
    const show = async (key: string): Promise<Locator> => {
      await page.getByRole("button", { name: key, exact: true }).click()
      return page.getByRole("dialog", { name: key })
    }
    const notes = await show("notes.json")
    await notes.getByText('"green"').waitFor()
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      notes.getByRole("button", { name: "Download" }).click(),
    ])
    expect(await readFile(await file.path(), "utf8")).toBe('{"tea":"green"}')
    await page.keyboard.press("Escape")
    await (await show("bytes")).getByText("neither text nor a picture").waitFor()
    await page.keyboard.press("Escape")
    const picture = await show("dot.png")
    const width = () =>
      picture.getByRole("img").evaluate((image) => (image as HTMLImageElement).naturalWidth)
    await eventually(width, (pixels) => expect(pixels).toBe(1))
    await picture.getByRole("button", { name: "Delete", exact: true }).click()
    await seeNote(page, "Deleted dot.png", () =>
      picture.getByRole("button", { name: "Delete for good" }).click(),
    )
    await page.getByLabel("Beginning of the key").fill("no")
    const keys = () => page.locator(".blob-key").allTextContents()
    await eventually(keys, (shown) => expect(shown).toEqual(["notes.json"]))
    expect((await bob.client.listBlobs({})).map(({ key }) => key)).toEqual(["bytes", "notes.json"])
    expect(tab.problems).toEqual([])
  })

  test("a template is tried as a page and as a run, and then kept or discarded", async () => {
    const carl = await app.stage.person("carl")
    await using tab = await app.open(carl)
    const { page } = tab
    await page.goto("/templates/page")
    await page.getByRole("button", { name: "Try it" }).click()
    await page.frameLocator("iframe").getByText("Hello, world!").waitFor()
    await page.getByRole("button", { name: "Keep hello" }).click()
    await page.waitForURL("**/u/carl/hello")
    await page.goto("/templates/script")
    await page.getByRole("button", { name: "Try it" }).click()
    await page.locator(".status").getByText("Succeeded").waitFor()
    await page.getByText('"sum":').waitFor()
    await page.getByRole("button", { name: "Discard" }).click()
    await page.getByRole("button", { name: "Try it" }).waitFor()
    const { data } = await carl.client.listMyVals({})
    expect(data.map(({ name }) => name)).toEqual(["hello"])
    expect(tab.problems).toEqual([])
  })

  test("the first run of a template is followed although a request for it fails", async () => {
    await using tab = await app.open(await app.stage.person("follower"))
    const { page } = tab
    let requests = 0
    await page.route("**/v1/runs/*", async (route) => {
      requests += 1
      // Not a lost connection, which the client itself would try again.
      if (requests === 2) return route.fulfill({ status: 404, json: { code: "run_not_found" } })
      if (requests > 2) return route.continue()
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), status: "queued" } })
    })
    await page.goto("/templates/script")
    await page.getByRole("button", { name: "Try it" }).click()
    await page.locator(".status").getByText("Succeeded").waitFor()
    expect(requests).toBeGreaterThan(2)
  })

  test("notifications are counted by the bell, read one by one or all at once, and muted", async () => {
    const [dora, emil] = [await app.stage.person("dora"), await app.stage.person("emil")]
    const { id } = await dora.client.createVal({ name: "tea", code: "1", privacy: "public" })
    await emil.client.likeVal({ val_id: id })
    for (const comment of ["Lovely", "And <b>hot</b>"])
      await emil.client.createComment({ val_id: id, comment })
    await using tab = await app.open(dora)
    const { page } = tab
    await page.goto("/")
    const bell = (unread: number) =>
      page.getByRole("link", {
        name: unread === 0 ? "Notifications" : `Notifications, ${unread} unread`,
        exact: true,
      })
    await bell(3).click()
    await page.getByText("And <b>hot</b>").waitFor()
    await page.getByRole("link", { name: "emil commented on tea" }).last().click()
    await page.waitForURL("**/u/dora/tea/discussion")
    await bell(2).click()
    await eventually(
      () => page.locator(".notification-unread").count(),
      (count) => expect(count).toBe(2),
    )
    await page.getByRole("button", { name: "Mark all as read" }).click()
    await bell(0).waitFor()
    await page.getByLabel("Likes").uncheck()
    await eventually(
      async () => (await dora.client.getNotificationSettings()).muted,
      (muted) => expect(muted).toEqual(["like"]),
    )
    const finn = await app.stage.person("finn")
    await finn.client.likeVal({ val_id: id })
    await finn.client.forkVal({ val_id: id, privacy: "public" })
    await page.reload()
    await bell(1).waitFor()
    await page.getByRole("link", { name: "finn forked tea as finn/tea" }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("the API reference sends requests as the user who is signed in, or with a token", async () => {
    const [fay, gus] = [await app.stage.person("fay"), await app.stage.person("gus")]
    await using tab = await app.open(fay)
    const { page } = tab
    await page.goto("/docs#getMe")
    await page.getByRole("button", { name: "Try it", exact: true }).click()
    const form = page.getByRole("form", { name: "Try it" })
    await form.getByText("Requests are sent as fay").waitFor()
    const response = page.getByRole("region", { name: "Response" })
    await form.getByRole("button", { name: "Send GET" }).click()
    await response.getByText('"fay"').waitFor()
    await form.getByLabel("Token").fill(gus.token)
    await form.getByRole("button", { name: "Send GET" }).click()
    await response.getByText('"gus"').waitFor()
    expect(tab.problems).toEqual([])
  })
})

async function execute(page: Page, sql: string): Promise<void> {
  const box = page.getByLabel("SQL statement")
  await box.fill(sql)
  await box.press("Control+Enter")
}

function expectCells(table: Locator, cells: readonly string[]): Promise<unknown> {
  return eventually(
    () => table.locator("td").allTextContents(),
    (shown) => expect(shown).toEqual([...cells]),
  )
}
