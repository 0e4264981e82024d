// A text field that suggests what can come next: a combobox by the pattern of ARIA, with a list below it.
import { useId, useRef, useState } from 'preact/hooks'

export interface Suggestion {
  /** What the field holds after it is chosen. */
  readonly text: string
  readonly label: string
  readonly note?: string
}

interface SuggestProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  /** What fits the text. Called while the list is open only. */
  readonly suggest: (text: string) => readonly Suggestion[]
  readonly onInput?: (text: string) => void
  /** Enter, a chosen suggestion, or leaving the field. */
  readonly onCommit: (text: string) => void
  /** Choosing is the end; else the user types on. */
  readonly single?: boolean
  readonly invalid?: string | undefined
  readonly class?: string
  readonly id?: string
}

const MAX_SHOWN = 50

export function Suggest(props: SuggestProps) {
  const { label, value, placeholder, suggest, onInput, onCommit, single = false, invalid } = props
  const [text, setText] = useState<string | undefined>(undefined)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const base = useId()
  const shown = text ?? value
  const list = isOpen ? suggest(shown).slice(0, MAX_SHOWN) : []

  const edit = (next: string): void => {
    setText(next)
    setOpen(true)
    setActive(-1)
    onInput?.(next)
  }
  const commit = (next: string): void => {
    setText(undefined)
    setOpen(false)
    onCommit(next)
  }
  const choose = (suggestion: Suggestion): void => {
    if (single) {
      commit(suggestion.text)
      return
    }
    edit(suggestion.text)
    input.current?.focus()
  }
  return (
    <div class={`suggest ${props.class ?? ''}`}>
      <input
        ref={input}
        id={props.id}
        type="text"
        role="combobox"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-label={label}
        aria-expanded={list.length > 0}
        aria-controls={`${base}-list`}
        aria-activedescendant={active >= 0 && active < list.length ? `${base}-${active}` : undefined}
        aria-autocomplete="list"
        aria-invalid={invalid === undefined ? undefined : 'true'}
        title={invalid}
        placeholder={placeholder}
        value={shown}
        onInput={event => edit(event.currentTarget.value)}
        onFocus={event => {
          if (single) event.currentTarget.select()
          setOpen(true)
        }}
        onBlur={() => {
          setOpen(false)
          if (text !== undefined) commit(text)
        }}
        onKeyDown={event => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            const step = event.key === 'ArrowDown' ? 1 : -1
            setOpen(true)
            if (list.length > 0) setActive((active + step + list.length) % list.length)
          } else if (event.key === 'Enter') {
            const chosen = list[active]
            if (chosen !== undefined) choose(chosen)
            else if (single && text !== undefined && list[0] !== undefined) commit(list[0].text)
            else commit(shown)
          } else if (event.key === 'Tab' && list[active] !== undefined && !single) choose(list[active])
          else if (event.key === 'Escape' && (list.length > 0 || text !== undefined)) {
            setOpen(false)
            setText(undefined)
            onInput?.(value)
          } else if (event.key === 'Escape') event.currentTarget.blur()
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      <ul class="suggestions" role="listbox" id={`${base}-list`} aria-label={label} hidden={list.length === 0}>
        {list.map((suggestion, index) => (
          <li
            key={suggestion.text}
            id={`${base}-${index}`}
            role="option"
            aria-selected={index === active}
            // The field keeps the focus.
            onMouseDown={event => {
              event.preventDefault()
              choose(suggestion)
            }}
          >
            <span>{suggestion.label}</span>
            {suggestion.note !== undefined && <small>{suggestion.note}</small>}
          </li>
        ))}
      </ul>
    </div>
  )
}
