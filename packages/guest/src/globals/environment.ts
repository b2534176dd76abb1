import process from "node:process"
import { bare, TypeErrorCtor } from "../primordials.ts"

const listReal = Deno.env.toObject.bind(Deno.env)
const setReal = Deno.env.set.bind(Deno.env)
const deleteReal = Deno.env.delete.bind(Deno.env)

/**
 * The val sees the variables that it was given, and of those of the process nothing. They cannot be
 * changed: other runs see them too.
 */
export function setEnvironment(variables: Readonly<Record<string, string>>): void {
  // Workers and `import { env } from "node:process"` ask the process itself, so it has the same
  // ones.
  for (const name of Object.keys(listReal())) if (!isProxy(name)) deleteReal(name)
  for (const [name, value] of Object.entries(variables)) if (!isProxy(name)) setQuietly(name, value)
  const view = Object.freeze(bare({ ...variables }))
  Object.assign(Deno.env, {
    get: (name: string) => view[name],
    has: (name: string) => name in view,
    toObject: () => ({ ...view }),
    set: (name: string) => refuse("set", name),
    delete: (name: string) => refuse("delete", name),
  })
  process.env = createNodeView(view)
}

/** These are Deno's, whatever a val or its owner calls their own. */
function isProxy(name: string): boolean {
  return /^(?:https?|all|no)_proxy$/i.test(name)
}

/** A name that the system does not take, such as one with "=", is still in the view. */
function setQuietly(name: string, value: string): void {
  try {
    setReal(name, value)
  } catch {}
}

/** Assigning to it in sloppy code, as in packages from npm, must not fail in silence. */
function createNodeView(view: Readonly<Record<string, string>>): Record<string, string> {
  return new Proxy(view as Record<string, string>, {
    set: (_, name) => refuse("set", String(name)),
    defineProperty: (_, name) => refuse("set", String(name)),
    deleteProperty: (_, name) => refuse("delete", String(name)),
  })
}

function refuse(what: "set" | "delete", name: string): never {
  throw new TypeErrorCtor(
    `Cannot ${what} environment variable "${name}": the environment of a val is read-only`,
  )
}
