import type { Door, Stage } from "../door.ts"

const counts = { paths: 1_000, mappings: 200, strings: 1_600 }
/** Characters of files that are saved together: each save reads all that the val has. */
const charsAtOnce = 1_500_000

/** What programs are made of: texts of users that the server itself reads when a val is started. */
export const programDoors: readonly Door[] = [
  {
    name: "relative imports of a program",
    // The program has as many files as it may, with a thousand paths each that are no files.
    drive: (stage) =>
      driveProgram(stage, 199, undefined, (file) => listTexts(counts.paths, `./${file}-`)),
  },
  {
    name: "mappings of a deno.json",
    // The program has as much text as a version may have. Each string is compared with each key,
    // and differs at its end.
    drive: (stage) =>
      driveProgram(stage, 38, mappings, (file) => listTexts(counts.strings, `${common}${file}-`)),
  },
  {
    name: "a deno.json that is too long",
    drive: (stage) => driveProgram(stage, 1, "/*".repeat(128_000), () => ""),
  },
  {
    name: "a deno.json that is not JSON",
    drive: (stage) => driveProgram(stage, 1, `{"imports": ${'{"a":'.repeat(6_000)}`, () => ""),
  },
]

const common = "a/".repeat(70)
const mappings = JSON.stringify({
  imports: Object.fromEntries(
    Array.from({ length: counts.mappings }, (_, index) => [`${common}${index}/`, "./"]),
  ),
})

function listTexts(count: number, start: string): string {
  return Array.from({ length: count }, (_, index) => `"${start}${index}.ts"`).join()
}

/** Saves a val whose code imports so many files, and runs it twice. */
async function driveProgram(
  { client, send }: Stage,
  fileCount: number,
  denoJson: string | undefined,
  toStrings: (file: number) => string,
): Promise<void> {
  const name = `program${Bun.randomUUIDv7().replaceAll("-", "")}`
  const { id } = await client.createVal({ name, code: "export default 1" })
  const files = Array.from({ length: fileCount }, (_, index) => ({
    path: `f${index}.ts`,
    content: `export default [${toStrings(index)}] // import`,
  }))
  const code = files.map(({ path }) => `import "./${path}"`).join("\n")
  const first = [
    { path: "main.tsx", content: `${code}\nexport default () => 1` },
    ...(denoJson === undefined ? [] : [{ path: "deno.json", content: denoJson }]),
  ]
  const filesAtOnce = Math.ceil(charsAtOnce / (files[0]?.content.length ?? 1))
  for (let from = 0; from < files.length; from += filesAtOnce) {
    const changes = [...(from === 0 ? first : []), ...files.slice(from, from + filesAtOnce)]
    await client.changeFiles({ val_id: id, changes })
  }
  for (let run = 0; run < 2; run++)
    await send({ method: "POST", path: `/v1/vals/${id}/runs`, body: "{}" })
}
