import { useId } from "preact/hooks"
import { api } from "../../api.ts"
import { useResource } from "../../data/resource.ts"
import { setQuery } from "../../frame/location.ts"

/** The user's vals, and the one with that name; undefined until they are loaded. */
export function useChosenVal(name: string | null, isOn: boolean) {
  const states = useResource(
    isOn ? "val states" : undefined,
    async (signal) => (await api.listMyValStates({}, { signal })).data,
  )
  const vals = states.state.kind === "ready" ? states.state.data : []
  return { vals, chosen: vals.find((val) => val.name === name) }
}

/** Chooses the val whose runs or data are shown; empty for all vals. */
export function ValFilter(props: {
  readonly vals: readonly { readonly name: string }[]
  readonly name: string | null
  readonly placeholder?: string
  /** Parameters of the address that another val does not have. */
  readonly clears?: readonly string[]
}) {
  const { clears = [] } = props
  const listId = useId()
  return (
    <>
      <input
        class="input val-filter"
        type="search"
        list={listId}
        aria-label="Val"
        placeholder={props.placeholder ?? "Any val"}
        spellcheck={false}
        autocomplete="off"
        value={props.name ?? ""}
        onChange={(event) =>
          setQuery({
            ...Object.fromEntries(clears.map((name) => [name, undefined])),
            val: event.currentTarget.value.trim(),
          })
        }
      />
      <datalist id={listId}>
        {props.vals.map((val) => (
          <option key={val.name} value={val.name} />
        ))}
      </datalist>
    </>
  )
}
