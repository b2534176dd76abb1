import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"

/** What was loaded, by the function that loads it: it is shown at once when it is shown again. */
const loaded = new WeakMap<object, unknown>()

/** A part of the page that may still be on its way. */
export interface LoadedPart<Props> {
  readonly component: ComponentType<Props> | undefined
  /** After a failure, the next instance tries again. */
  readonly hasFailed: boolean
}

/** A component of another bundle, which is loaded when it is first shown. */
export function useLoaded<Props>(load: () => Promise<ComponentType<Props>>): LoadedPart<Props> {
  const [hasFailed, setFailed] = useState(false)
  const [, setLoaded] = useState(loaded.has(load))
  useEffect(() => {
    // Another instance may have loaded it since this one was rendered.
    setLoaded(loaded.has(load))
    if (loaded.has(load)) return
    let isUnmounted = false
    load().then(
      (component) => {
        // Another component would replace what is shown: its state and the focus in it would be lost.
        if (!loaded.has(load)) loaded.set(load, component)
        if (!isUnmounted) setLoaded(true)
      },
      (error: unknown) => {
        console.warn("Cannot load a part of the page:", error)
        if (!isUnmounted) setFailed(true)
      },
    )
    return () => {
      isUnmounted = true
    }
  }, [load])
  return { component: loaded.get(load) as ComponentType<Props> | undefined, hasFailed }
}
