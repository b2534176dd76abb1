import { ApiError, type Client } from "@hamlet/contract/client"
import { readStyle } from "@hamlet/contract/code-style"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { toExitName } from "../../exit-codes.ts"
import { parseFile } from "../../files/front-matter.ts"
import { isValFile, readText } from "../../files/val-file.ts"
import { writeFileWhole } from "../../files/write-file.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { Connection } from "../../servers/connection.ts"
import { readInput } from "../../terminal/read-input.ts"

/** The result for one file or val. */
interface Formatted {
  readonly name: string
  readonly isChanged: boolean
  /** The new version of a val. */
  readonly version?: number
}

export const command = defineCommand({
  description: `Formats as "deno fmt" does, on the server. Semicolons and quotes stay as in most of the code. A file is
changed in place; its first line stays. A val gets a new version if anything changes. "-" formats standard
input to standard output.`,
  examples: [
    ["hamlet val fmt hello.ts pages/*.tsx", "format files"],
    ["hamlet val fmt hello", "format the val hello and save it"],
    ["hamlet val fmt --check *.ts", "change nothing; exit with 1 if a file is not formatted"],
    ["hamlet val fmt - < hello.ts", "print the formatted code"],
  ],
  takes: {
    "<vals...>": '.ts or .tsx files, names of vals, or "-"',
    "--check": "change nothing, and fail if anything would change",
  },
  async run(context, { vals, check: isCheck = false }) {
    const connection = await context.connect()
    let isAnyChanged = false
    const exit = await forEachOne(context.output, vals, async (name) => {
      if (name === "-" && !isCheck) return await formatInput(context, connection.client)
      const formatted = await formatOne(connection, name, isCheck)
      isAnyChanged ||= formatted.isChanged
      print(context, formatted, isCheck)
    })
    return exit ?? (isCheck && isAnyChanged ? "failed" : undefined)
  },
})

async function formatInput({ output }: Context, client: Client): Promise<void> {
  const { head, code } = split(await readInput(), "standard input")
  output.text(head + (await format(client, code, "standard input")))
}

function formatOne(connection: Connection, name: string, isCheck: boolean): Promise<Formatted> {
  if (name === "-") return checkInput(connection)
  return isValFile(name)
    ? formatFile(connection, name, isCheck)
    : formatVal(connection, name, isCheck)
}

async function checkInput({ client }: Connection): Promise<Formatted> {
  const { code } = split(await readInput(), "standard input")
  return { name: "-", isChanged: (await format(client, code, "standard input")) !== code }
}

async function formatFile(
  { client }: Connection,
  path: string,
  isCheck: boolean,
): Promise<Formatted> {
  const { head, code } = split(readText(path), path)
  const formatted = await format(client, code, `"${path}"`)
  const isChanged = formatted !== code
  if (isChanged && !isCheck) writeFileWhole(path, head + formatted)
  return { name: path, isChanged }
}

async function formatVal(
  connection: Connection,
  name: string,
  isCheck: boolean,
): Promise<Formatted> {
  const { client } = connection
  const val = await findWholeVal(connection, name)
  const code = await format(client, val.code, toFullName(val))
  const isChanged = code !== val.code
  const { version } =
    isChanged && !isCheck
      ? await client.createVersion({ val_id: val.id, code }, { ifMatch: val.version })
      : val
  return { name: toFullName(val), isChanged, version }
}

/** Separates the first line of a file, which the formatter would take for a comment. */
function split(text: string, source: string): { readonly head: string; readonly code: string } {
  const { code } = parseFile(text, source)
  return { head: text.slice(0, text.length - code.length), code }
}

async function format(client: Client, code: string, what: string): Promise<string> {
  try {
    return (await client.formatCode({ code, ...readStyle(code) })).code
  } catch (error) {
    // The message of the server does not say which of the files it is about.
    if (!(error instanceof ApiError && error.code === "module_not_parsable")) throw error
    const reason = error.message.replace(/^Cannot format the code: /, "")
    throw new CliError(toExitName(error), `Cannot format ${what}: ${reason}`, { cause: error })
  }
}

function print({ output }: Context, formatted: Formatted, isCheck: boolean): void {
  const { name, isChanged, version } = formatted
  const shown = version === undefined ? name : `${name}@${version}`
  const verb = isCheck ? "Not formatted:" : "Formatted"
  // For scripts, the names of what is not formatted are enough.
  if (isCheck && !isChanged && output.mode === "plain") return
  output.print({
    json: formatted,
    plain: shown,
    human: `${isChanged ? verb : "Unchanged:"} ${shown}`,
  })
}
