/** The smallest val, in TypeScript. */
export const helloCode = `export default function hello(request: Request): Response {
  return new Response("hello world")
}
`

/** The smallest val with one line in the log of each run. */
export const loggingCode = `export default function hello(request: Request): Response {
  console.log("hello", request.method)
  return new Response("hello world")
}
`

/** A val that computes for some milliseconds. */
export const computingCode = `export default function compute(): Response {
  let sum = 0
  for (let number = 0; number < 2_000_000; number++) sum = (sum * 31 + number) % 1_000_003
  return new Response(String(sum))
}
`

/** Ten lines of TypeScript as they are in many vals; `number` makes their names different. */
function toPiece(number: number): string {
  return `interface Item${number} {
  readonly name: string
  readonly count: number
}
/** Describes an item in words. */
export function describe${number}(item: Item${number}, prefix: string = "item"): string {
  const parts: string[] = [prefix, item.name]
  if (item.count > 1) parts.push(\`\${item.count} times\`)
  return parts.join(" ")
}
`
}

/** The hello in a val of 300 lines. */
export const longCode =
  helloCode + Array.from({ length: 30 }, (_, index) => toPiece(index)).join("")

/** The hello in a val of many files, which it imports. The first is the one that is started. */
export function toManyFiles(count: number): readonly { path: string; content: string }[] {
  const others = Array.from({ length: count - 1 }, (_, index) => ({
    path: `lib/part${index}.ts`,
    content: toPiece(index),
  }))
  const imports = others.map(
    ({ path }, index) => `import { describe${index} } from "./${path}"\nvoid describe${index}\n`,
  )
  return [{ path: "main.tsx", content: imports.join("") + helloCode }, ...others]
}

/** A hello that responds with its version. */
export function toVersionCode(version: string): string {
  return helloCode.replace("hello world", version)
}

/** Vals that each use all they can get of one resource until they are stopped. */
export const abusers: readonly {
  readonly name: string
  readonly count: number
  readonly code: string
}[] = [
  { name: "cpu", count: 4, code: "export default () => { for (;;) {} }" },
  {
    name: "heap",
    count: 3,
    code: "export default () => { const all: unknown[] = []; for (;;) all.push({ all: [all.length] }) }",
  },
  {
    name: "buffers",
    count: 3,
    code: "export default () => { const all: Uint8Array[] = []; for (;;) all.push(new Uint8Array(2 ** 24).fill(1)) }",
  },
  {
    name: "workers",
    count: 2,
    code: `export default async () => {
  for (;;) {
    new Worker("data:text/javascript,for(;;){}", { type: "module" })
    await new Promise((resolve) => setTimeout(resolve))
  }
}`,
  },
  {
    name: "timers",
    count: 2,
    code: "export default () => { const more = () => { setTimeout(more); setTimeout(more) }; more(); return new Promise(() => {}) }",
  },
  {
    name: "logs",
    count: 2,
    code: `export default async () => { for (;;) { console.log("x".repeat(10_000)); await null } }`,
  },
  {
    name: "disk",
    count: 2,
    code: `export default async () => {
  for (let file = 0; ; file++) {
    try {
      await Deno.writeFile("/tmp/" + file, new Uint8Array(2 ** 20))
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}`,
  },
  {
    name: "files",
    count: 2,
    code: `export default async () => {
  const all: Deno.FsFile[] = []
  for (;;) {
    try {
      all.push(await Deno.open("/tmp/file", { create: true, write: true }))
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}`,
  },
]
