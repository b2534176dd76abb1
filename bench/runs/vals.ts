/** The smallest val, in TypeScript. */
export const helloCode = `export default function hello(request: Request): Response {
  return new Response("hello world")
}
`

/** The same with one line in the log of each run. */
export const loggingCode = `export default function hello(request: Request): Response {
  console.log("hello", request.method)
  return new Response("hello world")
}
`

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
