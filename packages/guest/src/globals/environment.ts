import process from "node:process"
import { bare, TypeErrorCtor } from "../primordials.ts"

const listReal = Deno.env.toObject.bind(Deno.env)
const setReal = Deno.env.set.bind(Deno.env)
const deleteReal = Deno.env.delete.bind(Deno.env)

/**
 * Gives the val its own variables and none of the process. They are read-only, because other runs
 * see them too.
 */
export function setEnvironment(variables: Readonly<Record<string, string>>): void {
  // Workers and `import { env } from "node:process"` read the process environment, so it gets the
  // same variables.
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

/** Deno reads these, so a val cannot override them. */
function isProxy(name: string): boolean {
  return /^(?:https?|all|no)_proxy$/i.test(name)
}

/** A name that the system rejects, such as one with "=", is still in the view. */
function setQuietly(name: string, value: string): void {
  try {
    setReal(name, value)
  } catch {}
}

/** Assignments in sloppy mode, as in npm packages, must not fail silently. */
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
