import { useId } from "preact/hooks"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { setQuery } from "../frame/location.ts"

/**
 * One's own vals by name, and a field that chooses one of them; `undefined` until they are known,
 * or where none has that name.
 */
export function useChosenVal(name: string | null, isOn: boolean) {
  const states = useResource(
    isOn ? "val states" : undefined,
    async (signal) => (await api.listMyValStates({}, { signal })).data,
  )
  const vals = states.state.kind === "ready" ? states.state.data : []
  return { vals, chosen: vals.find((val) => val.name === name) }
}

/** Chooses the val whose runs are shown: a name from the list, or nothing for all of them. */
export function ValFilter({
  vals,
  name,
}: {
  vals: readonly { readonly name: string }[]
  name: string | null
}) {
  const listId = useId()
  return (
    <>
      <input
        class="input val-filter"
        type="search"
        list={listId}
        aria-label="Val"
        placeholder="Any val"
        spellcheck={false}
        autocomplete="off"
        value={name ?? ""}
        onChange={(event) => setQuery({ val: event.currentTarget.value.trim() })}
      />
      <datalist id={listId}>
        {vals.map((val) => (
          <option key={val.name} value={val.name} />
        ))}
      </datalist>
    </>
  )
}
