import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, extname, join } from "node:path"

/** The number of files of a repository of usual size. */
const fileCount = 300

/** How many levels the folders have. */
const folders = [
  "",
  "src/",
  "src/lib/",
  "src/routes/users/[id]/",
  "docs/guide/chapters/",
  "test/cases/a/b/c/d/e/f/",
  ".github/workflows/",
]

/** A text for each kind of file that is easily damaged on its way. */
const contents: readonly (readonly [extension: string, toText: (n: number) => string])[] = [
  ["ts", (n) => `export const n${n} = ${n}\n`.repeat((n % 40) + 1)],
  ["tsx", (n) => `export default () => <p>{"${n} é 漢字 🏘️"}</p>\r\n`.repeat(n % 9)],
  ["md", (n) => `# ${n}\n\nTrailing spaces  \nand no end of line`],
  [
    "json",
    (n) => `${JSON.stringify({ n, nested: [null, { text: "\u2028\\\u0001" }] }, null, 2)}\n`,
  ],
  ["txt", () => ""],
  ["css", (n) => `\ufeff.n${n} { color: red }\r\n`],
  ["csv", (n) => `${n},mixed\r\nends\n\rof\n\n\nlines\r`],
]

/**
 * A repository: nested folders, long names, empty files, line ends of all kinds, a byte order mark,
 * text of all alphabets and one large file. It is the same every time.
 */
export function toRepository(): Record<string, string> {
  const files: Record<string, string> = {}
  for (let n = 0; n < fileCount - 3; n++) {
    const [extension, toText] = contents[n % contents.length] ?? ["txt", () => ""]
    files[`${folders[(n * 5) % folders.length]}file-${n}.${extension}`] = toText(n)
  }
  files[`${"deep/".repeat(10)}${"long-name_".repeat(7)}.ts`] = "deep\n"
  files["data/large.txt"] = "0123456789 äöü\n".repeat(12_800)
  files.Makefile = "all:\n\techo done\n"
  return files
}

/** How editors save a file. */
const saves: readonly ((path: string, text: string) => void)[] = [
  (path, text) => writeFileSync(path, text),
  // Vim and others: the new text gets the old name.
  (path, text) => {
    writeFileSync(`${path}.tmp~`, text)
    renameSync(`${path}.tmp~`, path)
  },
  // The old file moves away first.
  (path, text) => {
    renameSync(path, `${path}~`)
    writeFileSync(path, text)
    rmSync(`${path}~`)
  },
  (path, text) => {
    rmSync(path)
    writeFileSync(path, text)
  },
]

/** Changes a folder as a person would: edits, renames, deletions and new files. */
export function changeRepository(
  folder: string,
  paths: readonly string[],
  random: () => number,
  label: string,
): void {
  for (const [n, path] of paths.entries()) {
    const full = join(folder, path)
    const kind = Math.floor(random() * 7)
    if (kind === 0) rmSync(full)
    else if (kind === 1) move(full, join(folder, `moved/${label}-${n}${extname(path)}`))
    else if (kind === 2) {
      const fresh = join(folder, `new/${label}/${n}.ts`)
      mkdirSync(dirname(fresh), { recursive: true })
      writeFileSync(fresh, `new ${label}\n`)
    } else saves[kind - 3]?.(full, `${label} ${n} ü\r\n`)
  }
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
}
