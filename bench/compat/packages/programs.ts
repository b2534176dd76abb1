import type { PackageCase } from "../package-case.ts"

/** Logs, arguments, settings and translations. */
export const programs: readonly PackageCase[] = [
  {
    code: `import winston from "npm:winston@3.19.0"
import { Writable } from "node:stream"
export default () => new Promise((resolve) => {
  const stream = new Writable({ write(chunk, _, done) { resolve(JSON.parse(String(chunk))); done() } })
  winston.createLogger({ transports: [new winston.transports.Stream({ stream }), new winston.transports.Console({ silent: true })] }).info("hi", { n: 1 })
})`,
    returns: { level: "info", message: "hi", n: 1 },
    isInTests: true,
  },
  {
    code: `import pino from "npm:pino@10.4.0"
export default () => {
  let line = ""
  pino({ base: null, timestamp: false }, { write: (text) => { line = text } }).info({ n: 1 }, "hi")
  pino().info("to the standard output")
  return JSON.parse(line)
}`,
    returns: { level: 30, n: 1, msg: "hi" },
    isInTests: true,
  },
  {
    code: `import debug from "npm:debug@4.4.3"
export default () => {
  debug.enable("compat:*")
  const log = debug("compat:a")
  log("hi %d", 1)
  debug.disable()
  return [log.namespace, debug.enabled("compat:a")]
}`,
    returns: ["compat:a", false],
    isInTests: true,
  },
  {
    code: `import { Chalk } from "npm:chalk@6.0.1"
export default () => new Chalk({ level: 1 }).red("a")`,
    returns: "\u001b[31ma\u001b[39m",
  },
  {
    code: `import { Command } from "npm:commander@15.1.0"
export default () => new Command().option("-n <count>").argument("<file>").parse(["-n", "2", "a.ts"], { from: "user" }).opts()`,
    returns: { n: "2" },
  },
  {
    code: `import yargs from "npm:yargs@18.2.0"
export default () => yargs(["--n", "2", "a.ts"]).option("n", { type: "number" }).exitProcess(false).parseSync().n`,
    returns: 2,
  },
  {
    code: `import dotenv from "npm:dotenv@18.0.10"
import { writeFileSync } from "node:fs"
export default () => {
  const path = Deno.makeTempFileSync()
  writeFileSync(path, "COMPAT_A=1\\nCOMPAT_B='x y'")
  dotenv.config({ path, quiet: true })
  return [process.env.COMPAT_A, Deno.env.get("COMPAT_B"), dotenv.parse("C=3")]
}`,
    returns: ["1", "x y", { C: "3" }],
  },
  {
    code: `import { writeFileSync } from "node:fs"
export default async () => {
  process.env.NODE_CONFIG_DIR = Deno.makeTempDirSync()
  writeFileSync(process.env.NODE_CONFIG_DIR + "/default.json", '{ "port": 8080 }')
  const { default: config } = await import("npm:config@5.0.1")
  return config.get("port")
}`,
    returns: 8080,
  },
  {
    code: `import i18next from "npm:i18next@27.0.1"
export default async () => {
  const t = await i18next.init({ lng: "de", resources: { de: { translation: { hi: "Hallo {{name}}", play_one: "ein Stück", play_other: "{{count}} Stücke" } } } })
  return [t("hi", { name: "Ada" }), t("play", { count: 1 }), t("play", { count: 3 })]
}`,
    returns: ["Hallo Ada", "ein Stück", "3 Stücke"],
  },
  {
    code: `import pino from "npm:pino@10.4.0"
export default async () => {
  const destination = Deno.makeTempDirSync() + "/log"
  const logger = pino(pino.transport({ target: "pino/file", options: { destination } }))
  logger.info("to a file, in a thread")
  await new Promise((resolve) => logger.flush(resolve))
  return JSON.parse(Deno.readTextFileSync(destination)).msg
}`,
    returns: "to a file, in a thread",
  },
  {
    code: `import workerpool from "npm:workerpool@10.0.3"
export default async () => {
  const pool = workerpool.pool()
  try { return await pool.exec((a, b) => a + b, [3, 4]) } finally { await pool.terminate() }
}`,
    returns: 7,
  },
  {
    code: `import { $ } from "npm:zx@8.8.5"
export default async () => (await $\`echo hi\`).stdout`,
    returns: "hi\n",
  },
  {
    code: `import { execa } from "npm:execa@10.2.1"
export default async () => (await execa("echo", ["hi"])).stdout`,
    returns: "hi",
  },
]
