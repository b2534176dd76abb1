import type { PackageCase } from "../package-case.ts"

/** File formats, archives and files in `/tmp`. */
export const files: readonly PackageCase[] = [
  {
    code: `import PDFDocument from "npm:pdfkit@0.20.2"
export default () => new Promise((resolve) => {
  const pdf = new PDFDocument()
  const chunks = []
  pdf.on("data", (chunk) => chunks.push(chunk))
  pdf.on("end", () => resolve(Buffer.concat(chunks).subarray(0, 5).toString()))
  pdf.font("Helvetica").text("Hi").end()
})`,
    returns: "%PDF-",
    isInTests: true,
  },
  {
    code: `import { PDFDocument, StandardFonts } from "npm:pdf-lib@1.17.1"
export default async () => {
  const pdf = await PDFDocument.create()
  pdf.addPage().drawText("Hi", { font: await pdf.embedFont(StandardFonts.Helvetica) })
  return (await PDFDocument.load(await pdf.save())).getPageCount()
}`,
    returns: 1,
  },
  {
    code: `import * as XLSX from "npm:xlsx@0.18.5"
export default () => {
  const book = XLSX.utils.book_new(XLSX.utils.json_to_sheet([{ a: 1, b: "x" }]))
  XLSX.utils.book_append_sheet(book, XLSX.utils.json_to_sheet([{ a: 1, b: "x" }]), "s")
  const { Sheets } = XLSX.read(XLSX.write(book, { type: "buffer" }))
  return XLSX.utils.sheet_to_json(Sheets.s)
}`,
    returns: [{ a: 1, b: "x" }],
  },
  {
    code: `import { ZipArchive } from "npm:archiver@8.0.0"
export default () => new Promise((resolve, reject) => {
  const archive = new ZipArchive()
  const chunks = []
  archive.on("data", (chunk) => chunks.push(chunk)).on("error", reject)
  archive.on("end", () => resolve(Buffer.concat(chunks).subarray(0, 2).toString()))
  archive.append("hi", { name: "a.txt" })
  archive.finalize()
})`,
    returns: "PK",
  },
  {
    code: `import JSZip from "npm:jszip@3.10.2"
export default async () => {
  const zip = new JSZip().file("a.txt", "hi")
  return (await JSZip.loadAsync(await zip.generateAsync({ type: "uint8array" }))).file("a.txt").async("text")
}`,
    returns: "hi",
  },
  {
    code: `import { gunzipSync, gzipSync, strFromU8, strToU8, unzipSync, zipSync } from "npm:fflate@0.8.3"
export default () => [strFromU8(gunzipSync(gzipSync(strToU8("hi")))), Object.keys(unzipSync(zipSync({ "a.txt": strToU8("hi") })))]`,
    returns: ["hi", ["a.txt"]],
  },
  {
    code: `import Papa from "npm:papaparse@5.7.0"
export default () => [Papa.parse("a,b\\n1,2", { header: true, dynamicTyping: true }).data, Papa.unparse([{ a: 1 }])]`,
    returns: [[{ a: 1, b: 2 }], "a\r\n1"],
  },
  {
    code: `import { parse } from "npm:csv-parse@7.0.3/sync"
import { stringify } from "npm:csv-stringify@6.9.0/sync"
export default () => [parse("a,b\\n1,2", { columns: true }), stringify([["x", "y z"]])]`,
    returns: [[{ a: "1", b: "2" }], "x,y z\n"],
  },
  {
    code: `import { XMLBuilder, XMLParser } from "npm:fast-xml-parser@5.12.0"
export default () => [new XMLParser().parse("<a><b>1</b></a>"), new XMLBuilder().build({ a: { b: 1 } })]`,
    returns: [{ a: { b: 1 } }, "<a><b>1</b></a>"],
  },
  {
    code: `import xml2js from "npm:xml2js@0.6.2"
export default async () => (await xml2js.parseStringPromise("<a x='1'><b>2</b></a>")).a`,
    returns: { $: { x: "1" }, b: ["2"] },
  },
  {
    code: `import { parse, stringify } from "npm:yaml@2.9.1"
export default () => [parse("a:\\n  - 1\\n  - b"), stringify({ a: [1] })]`,
    returns: [{ a: [1, "b"] }, "a:\n  - 1\n"],
  },
  {
    code: `import Parser from "npm:rss-parser@3.13.0"
export default async ({ http }) => {
  const feed = await new Parser().parseURL(http + "/feed.xml")
  return [feed.title, feed.items.map(({ title }) => title)]
}`,
    returns: ["Plays", ["Hamlet"]],
  },
  {
    code: `import { Feed } from "npm:feed@6.0.0"
export default () => {
  const feed = new Feed({ title: "Plays", id: "https://x.example/", link: "https://x.example/", copyright: "" })
  feed.addItem({ title: "Hamlet", link: "https://x.example/1", date: new Date(0) })
  return feed.rss2().includes("Hamlet") && feed.atom1().includes("Hamlet")
}`,
    returns: true,
  },
  {
    code: `import robotsParser from "npm:robots-parser@3.0.1"
export default () => robotsParser("https://x.example/robots.txt", "User-agent: *\\nDisallow: /a").isAllowed("https://x.example/a", "b")`,
    returns: false,
  },
  {
    code: `import { glob } from "npm:glob@14.0.4"
import { writeFileSync } from "node:fs"
export default async () => {
  const cwd = Deno.makeTempDirSync()
  for (const name of ["a.ts", "b.js"]) writeFileSync(cwd + "/" + name, "")
  return glob("*.ts", { cwd })
}`,
    returns: ["a.ts"],
  },
  {
    code: `import fs from "npm:fs-extra@11.4.1"
export default async () => {
  const folder = Deno.makeTempDirSync()
  await fs.outputJson(folder + "/x/a.json", { n: 1 })
  await fs.copy(folder + "/x", folder + "/y")
  const json = await fs.readJson(folder + "/y/a.json")
  await fs.remove(folder)
  return [json, await fs.pathExists(folder)]
}`,
    returns: [{ n: 1 }, false],
    isInTests: true,
  },
]
