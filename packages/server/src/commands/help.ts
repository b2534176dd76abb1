import { toFlag } from "../config/config.ts"
import { options } from "../config/options.ts"

const intro = `Usage: npm start -- [flags]

Starts the server. Each flag is also an environment variable: --data-dir is HAMLET_DATA_DIR.

Other commands: npm run admin-token, npm run rotate-secret-key, npm run hamlet -- doctor,
npm run hamlet -- restore FILE. They take the same flags.

Flags:`

const columnsMax = 100

/** All flags with their defaults and meanings, for a terminal of that width. */
export function toHelp(columns = columnsMax): string {
  const width = Math.min(columns, columnsMax)
  const flags = options.map((option) => {
    const title = `  --${toFlag(option.env)}${option.default === "" ? "" : ` (${option.default})`}`
    return [title, ...wrap(option.meaning.replaceAll("`", ""), width, "      ")].join("\n")
  })
  return `${[intro, ...flags].join("\n")}\n`
}

function wrap(text: string, width: number, indent: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= width) lines.push(`${indent}${word}`)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
