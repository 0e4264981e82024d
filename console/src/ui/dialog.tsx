import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.js'

const FIRST_FOCUS = '.dialog-content :is(input, select, textarea), footer button'

interface DialogProps {
  readonly title: string
  readonly wide?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons at the end. */
  readonly actions?: ComponentChildren
}

/** A modal dialog: the browser keeps the focus within it and returns it, and Escape closes it. */
export function Dialog({ title, wide = false, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const dialog = element.current!
    const returnTo = document.activeElement
    dialog.showModal()
    // Not the button that closes it, which comes first.
    dialog.querySelector<HTMLElement>(FIRST_FOCUS)?.focus()
    return () => {
      dialog.close()
      if (returnTo instanceof HTMLElement) returnTo.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={event => {
        if (event.target === element.current) onClose()
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <Button icon="close" label="Close" tone="quiet" onClick={onClose} />
        </header>
        <div class="dialog-content">{children}</div>
        {actions !== undefined && <footer>{actions}</footer>}
      </div>
    </dialog>
  )
}
