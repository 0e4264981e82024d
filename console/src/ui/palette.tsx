// Ctrl+K: finds kinds, objects and actions by what is typed, the best match first.
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.js'
import { type FoundItem, findItems } from './palette-items.js'

/** Undefined while closed; else what stands in the field at first. `:` finds kinds, `>` actions. */
export const paletteText = signal<string | undefined>(undefined)

export const openPalette = (text = ''): void => {
  paletteText.value = text
}

export function Palette() {
  return paletteText.value === undefined ? null : <OpenPalette start={paletteText.value} />
}

function OpenPalette({ start }: { readonly start: string }) {
  const [text, setText] = useState(start)
  const [active, setActive] = useState(0)
  const [items, setItems] = useState<readonly FoundItem[]>([])
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const finder = useMemo(() => findItems(setItems), [])
  // Before the next key is read: what is typed at once belongs to the palette.
  useLayoutEffect(() => {
    dialog.current!.showModal()
    return () => finder.stop()
  }, [])
  useLayoutEffect(() => {
    setActive(0)
    finder.find(text)
  }, [text])
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const close = (): void => {
    paletteText.value = undefined
  }
  const choose = (item: FoundItem | undefined): void => {
    if (item === undefined || item.disabled !== undefined) return
    close()
    item.run()
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Find kinds, objects and actions"
      onCancel={close}
      onMouseDown={event => {
        if (event.target === dialog.current) close()
      }}
    >
      <div class="palette-body">
        <div class="palette-field">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Find"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={items.length > 0 ? `palette-${active}` : undefined}
            aria-autocomplete="list"
            spellcheck={false}
            autocomplete="off"
            placeholder="A kind, an object, an action …"
            value={text}
            onInput={event => setText(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key === 'ArrowDown' || (event.ctrlKey && event.key === 'n')) {
                setActive(Math.min(active + 1, items.length - 1))
              } else if (event.key === 'ArrowUp' || (event.ctrlKey && event.key === 'p'))
                setActive(Math.max(active - 1, 0))
              else if (event.key === 'Enter') choose(items[active])
              else return
              event.preventDefault()
            }}
          />
          <kbd>esc</kbd>
        </div>
        <ul role="listbox" id="palette-list" aria-label="Found" ref={list}>
          {items.map((item, index) => (
            <li
              key={item.id}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === active}
              aria-disabled={item.disabled === undefined ? undefined : 'true'}
              title={item.disabled}
              onMouseMove={() => setActive(index)}
              onClick={() => choose(item)}
            >
              <Icon name={item.icon} />
              <span class="palette-title">{item.title}</span>
              <span class="palette-note">{item.note}</span>
              {item.keys !== undefined && <kbd>{item.keys}</kbd>}
            </li>
          ))}
        </ul>
        {items.length === 0 && <p class="palette-empty">Nothing is called so.</p>}
      </div>
    </dialog>
  )
}
