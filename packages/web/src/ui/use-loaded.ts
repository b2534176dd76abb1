import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"

/** What was loaded, by the function that loads it: it is shown at once when it is shown again. */
const loaded = new WeakMap<object, unknown>()

/**
 * A component of another bundle, which is loaded when it is first shown; undefined until then. After a
 * failure, the next instance tries again.
 */
export function useLoaded<Props>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> | undefined {
  const [, setLoaded] = useState(loaded.has(load))
  useEffect(() => {
    let isUnmounted = false
    load().then(
      (component) => {
        loaded.set(load, component)
        if (!isUnmounted) setLoaded(true)
      },
      (error: unknown) => console.warn("Cannot load a part of the page:", error),
    )
    return () => {
      isUnmounted = true
    }
  }, [load])
  return loaded.get(load) as ComponentType<Props> | undefined
}
