import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { zipSync } from "fflate"
import type { Page } from "playwright-core"
import type { Person } from "../../../dev/app-stage.ts"
import { expectNoBarriers, findTooWide } from "../../support/check-page.ts"
import type { App } from "../../support/describe-app.ts"
import { eventually, seeNote } from "../../support/eventually.ts"

/** Vals of several files from templates, folders and archives, and their pictures. */
export function defineFolders(app: App): void {
  test("a template of several files shows them, is tried, and becomes one version", async () => {
    const ada = await app.stage.person("frida")
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/templates/app")
    await page.getByRole("tab", { name: "shared/item.ts" }).click()
    await page.getByRole("tabpanel").getByText("export function").waitFor()
    await expectNoBarriers(page)
    await page.getByRole("button", { name: "Try it" }).click()
    // The page loads TypeScript from two folders of the val, and its API.
    const trial = page.frameLocator("iframe")
    await trial.getByLabel("What do you need?").fill("tea")
    await trial.getByRole("button", { name: "Add" }).click()
    await trial.getByRole("checkbox", { name: "tea" }).check()
    await page.getByRole("button", { name: "Keep shopping_list" }).click()
    await page.waitForURL("**/u/frida/shopping_list")
    const { id, version, type } = await ada.client.getValByName({
      username: "frida",
      val_name: "shopping_list",
    })
    expect({ version, type }).toEqual({ version: 1, type: "http" })
    expect((await readTree(ada, id)).size).toBe(7)
    expect(tab.problems).toEqual([])
  })

  test("a folder and an archive are dropped, and an export of the val gives it again", async () => {
    const gina = await app.stage.person("gina")
    await using tab = await app.open(gina)
    const { page } = tab
    const folder = mkdtempSync(join(tmpdir(), "hamlet-drop-"))
    using _removed = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
    const text = "\ufeffexport default () => new Response('grün 🚀')\r\n"
    const files = {
      "main.http.ts": text,
      "lib/a/b.ts": "export const a = 1\n",
      "notes.txt": "",
      "README.md": "# Shop\n",
      "logo.png": "\x89PNG",
      "node_modules/x/index.js": "",
    }
    writeTree(join(folder, "my shop"), files)
    await page.goto("/new")
    await page.getByText("Drop a folder").waitFor()
    await dropFile(page, join(folder, "my shop"))
    const dialog = page.getByRole("dialog", { name: "New val with 4 files" })
    await dialog.getByText("1 file left out").click()
    await dialog.getByText("logo.png: it is not text").waitFor()
    await dialog.getByLabel("Type of lib/a/b.ts").selectOption("Interval")
    await expectNoBarriers(page, { hasLayers: true })
    expect(await findTooWide(page)).toEqual([])
    await dialog.getByRole("button", { name: "Create" }).click()
    await page.waitForURL("**/u/gina/my_shop")
    const first = await gina.client.getValByName({ username: "gina", val_name: "my_shop" })
    const tree = await readTree(gina, first.id)
    expect([first.version, ...tree]).toEqual([
      1,
      ["README.md", ["file", "# Shop\n"]],
      ["lib/a/b.ts", ["interval", "export const a = 1\n"]],
      ["main.http.ts", ["http", text]],
      ["notes.txt", ["file", ""]],
    ])

    await page.goto("/u/gina/my_shop/settings")
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as .zip" }).click(),
    ])
    expect(download.suggestedFilename()).toBe("my_shop.zip")
    const archive = join(folder, "again.zip")
    await download.saveAs(archive)
    await page.getByRole("link", { name: "New val" }).click()
    await page.getByText("Drop a folder").waitFor()
    await dropFile(page, archive)
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click()
    await page.waitForURL("**/u/gina/again")
    const again = await gina.client.getValByName({ username: "gina", val_name: "again" })
    expect(await readTree(gina, again.id)).toEqual(tree)

    // A name that is taken is said in the dialog, and nothing is left behind.
    await page.getByRole("link", { name: "New val" }).click()
    await page.getByLabel("Folder to import").setInputFiles(join(folder, "my shop"))
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click()
    await page.getByRole("alert").filter({ hasText: "already have" }).waitFor()
    await page.keyboard.press("Escape")
    const many = Array.from({ length: 1_001 }, (_, n) => [`${n}.ts`, new Uint8Array()] as const)
    writeFileSync(archive, zipSync(Object.fromEntries(many)))
    await page.getByLabel("Archive to import").setInputFiles(archive)
    await page.getByText("Cannot import 1,001 files: a val has at most 1,000").waitFor()
    expect((await gina.client.listMyVals({})).data).toHaveLength(2)
    expect(tab.problems).toEqual([])
  })

  test("a picture is made small and shown in lists; one elsewhere is never loaded", async () => {
    const hedy = await app.stage.person("hedy")
    const { id } = await hedy.client.createVal({ name: "hello", code: "1", privacy: "public" })
    const other = await hedy.client.createVal({ name: "spy", code: "1", privacy: "public" })
    await hedy.client.updateVal({ val_id: other.id, imageUrl: "https://other.invalid/a.png?seen" })
    await using tab = await app.open(hedy)
    const { page } = tab
    await page.goto("/u/hedy/hello/settings")
    await seeNote(page, "Saved", () =>
      page.getByLabel("Picture to use").setInputFiles({
        name: "wide.png",
        mimeType: "image/png",
        buffer: widePicture,
      }),
    )
    const { imageUrl = "" } = await hedy.client.getVal({ val_id: id })
    expect(imageUrl).toStartWith("data:image/webp;base64,")
    for (const path of ["/", "/search", "/search?q=hello", "/u/hedy"]) {
      await page.goto(path)
      await page.getByText("hello").first().waitFor()
      const sizes = () =>
        page
          .locator("img")
          .evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth))
      await eventually(sizes, (widths) => expect(widths).toEqual([64]))
    }
    await page.goto("/u/hedy/spy/settings")
    await page.getByRole("link", { name: "other.invalid" }).waitFor()
    await seeNote(page, "Saved", () => page.getByRole("button", { name: "Remove" }).click())
    expect(await hedy.client.getVal({ val_id: other.id })).not.toHaveProperty("imageUrl")
    await page.getByLabel("Picture to use").setInputFiles({
      name: "x.png",
      mimeType: "image/png",
      buffer: Buffer.from("<svg/>"),
    })
    await page.getByText('Cannot use "x.png" as a picture: this browser cannot read it').waitFor()
    expect(tab.problems).toEqual([])
  })
}

/** Two pixels beside each other. */
const widePicture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAEUlEQVR4nGM4ISf3X07uxH8AECsEBxOnYNoAAAAASUVORK5CYII=",
  "base64",
)

/** The type and content of each file, by path. */
async function readTree({ client }: Person, valId: string) {
  const tree = new Map<string, readonly [type: string, content: string]>()
  const query = { val_id: valId, path: "", recursive: true, limit: 100 }
  for await (const { path, type } of client.items("listFiles", query)) {
    if (type === "directory") continue
    const bytes = await (await client.getFileContent({ val_id: valId, path })).bytes()
    tree.set(path, [type, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)])
  }
  return tree
}

function writeTree(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Drops a file or folder of the disk on the page, as a file manager does. */
async function dropFile(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data })
  await session.detach()
}
