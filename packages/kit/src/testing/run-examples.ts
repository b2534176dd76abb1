import { readFileSync } from "node:fs"
import { dirname } from "node:path"

/** What an example printed, and what its comments say that it prints. */
interface RunExample {
  readonly printed: readonly string[]
  readonly promised: readonly string[]
}

/**
 * Runs the examples of a file, in a process each: the blocks of TypeScript of a README, or those of a
 * comment. A line `console.log(…) // text` promises that `text` is printed.
 */
export async function runExamples(path: string): Promise<readonly RunExample[]> {
  const text = readFileSync(path, "utf8").replace(/^ \* ?/gm, "")
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code)
  return await Promise.all(blocks.map((code) => runExample(code, dirname(path))))
}

async function runExample(code: string, folder: string): Promise<RunExample> {
  const example = Bun.spawn([process.execPath, "-e", code], {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
  })
  const [output, errors, exitCode] = await Promise.all([
    new Response(example.stdout).text(),
    new Response(example.stderr).text(),
    example.exited,
  ])
  if (exitCode !== 0) throw new Error(`The example failed: ${errors}\n${code}`)
  return {
    printed: output.split("\n").filter(Boolean),
    promised: [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, line = ""]) => line),
  }
}
