import { fileURLToPath } from "node:url"

/** The script that tells the app what the page of a val logs, fetches and throws. */
export interface PageScript {
  /** The file name, with a hash of the body. */
  readonly name: string
  readonly body: Uint8Array
}

/** Bundles the script in memory. */
export async function buildPageScript(): Promise<PageScript> {
  const { outputs } = await Bun.build({
    entrypoints: [fileURLToPath(import.meta.resolve("../page-console/main.ts"))],
    target: "browser",
    format: "iife",
    minify: true,
    naming: "console-[hash].[ext]",
  })
  const output = outputs[0]
  if (!output) throw new Error("Cannot bundle the script of pages: there is no output")
  return {
    name: output.path.slice(output.path.lastIndexOf("/") + 1),
    body: new Uint8Array(await output.arrayBuffer()),
  }
}
