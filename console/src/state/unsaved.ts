// Texts that are not saved yet. Leaving their view would lose them, so the user is asked first.
import { type ReadonlySignal, signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

export interface EditedText {
  readonly isChanged: ReadonlySignal<boolean>
  readonly discard: () => void
}

const shown = new Set<EditedText>()

export const hasUnsaved = (): boolean => [...shown].some(({ isChanged }) => isChanged.peek())

/** What the user wants to do and is asked about; undefined when nothing is asked. */
export const question = signal<(() => void) | undefined>(undefined)

/** Does it at once if nothing would be lost; else when the user agrees. */
export function leave(go: () => void): void {
  if (hasUnsaved()) question.value = go
  else go()
}

/** The user agrees to lose what is not saved. */
export function agree(): void {
  const go = question.peek()
  question.value = undefined
  for (const { discard } of shown) discard()
  go?.()
}

export function stay(): void {
  question.value = undefined
}

/** While the component is shown, leaving its view is asked about if the text has changed. Closing the page too. */
export function useUnsaved(text: EditedText): void {
  useLayoutEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (text.isChanged.peek()) event.preventDefault()
    }
    shown.add(text)
    addEventListener('beforeunload', ask)
    return () => {
      shown.delete(text)
      removeEventListener('beforeunload', ask)
    }
  }, [text])
}
