// The editor itself: CodeMirror in a shadow root. There its styles are constructable style sheets, which a strict
// Content-Security-Policy allows; in the document they would be style elements, which it does not.
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintKeymap } from '@codemirror/lint'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  tooltips,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'

export interface Editor {
  readonly view: EditorView
  /** Replaces the text where it differs; the cursor stays where it can. */
  readonly setText: (text: string) => void
  readonly setReadOnly: (readOnly: boolean) => void
  readonly destroy: () => void
}

export interface EditorOptions {
  readonly parent: ShadowRoot
  readonly text: string
  readonly label: string
  readonly readOnly?: boolean
  readonly language?: 'yaml' | 'plain'
  readonly extensions?: Extension
  readonly onChange?: (text: string) => void
  /** Ctrl+S. */
  readonly onSave?: () => void
}

export function createEditor(options: EditorOptions): Editor {
  const { parent, text, label, readOnly = false, language = 'yaml', extensions = [], onChange, onSave } = options
  const editable = new Compartment()
  const state = EditorState.create({
    doc: text,
    extensions: [
      look,
      lineNumbers(),
      foldGutter(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      indentUnit.of('  '),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ icons: false }),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      tooltips({ position: 'absolute' }),
      language === 'yaml' ? yaml() : [],
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
      editable.of(EditorState.readOnly.of(readOnly)),
      EditorView.updateListener.of(update => {
        if (update.docChanged) onChange?.(update.state.doc.toString())
      }),
      keymap.of([
        {
          key: 'Mod-s',
          run: () => {
            onSave?.()
            return true
          },
        },
        // Escape, then Tab, leaves the editor: CodeMirror lets the next Tab through.
        indentWithTab,
        ...completionKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...lintKeymap,
      ]),
      extensions,
    ],
  })
  const view = new EditorView({ state, parent, root: parent })
  return {
    view,
    setText: next => {
      const current = view.state.doc.toString()
      if (current === next) return
      // Only the part that differs is replaced, so that the cursor and folds before and after it stay.
      let from = 0
      while (from < current.length && from < next.length && current[from] === next[from]) from++
      let end = 0
      const most = Math.min(current.length, next.length) - from
      while (end < most && current[current.length - 1 - end] === next[next.length - 1 - end]) end++
      view.dispatch({ changes: { from, to: current.length - end, insert: next.slice(from, next.length - end) } })
    },
    setReadOnly: next => view.dispatch({ effects: editable.reconfigure(EditorState.readOnly.of(next)) }),
    destroy: () => view.destroy(),
  }
}

/** Two texts side by side, or as one on a narrow screen. */
export function createDiff(
  parent: ShadowRoot,
  before: string,
  after: string,
  labels: readonly [string, string],
): () => void {
  const shared = [look, lineNumbers(), yaml(), EditorState.readOnly.of(true), EditorView.editable.of(false)]
  const collapseUnchanged = { margin: 3, minSize: 6 }
  const described = (label: string): Extension =>
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' })
  if (matchMedia('(max-width: 760px)').matches) {
    const merge = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged })
    const view = new EditorView({ doc: after, extensions: [shared, merge, described(labels[1])], parent, root: parent })
    return () => view.destroy()
  }
  const view = new MergeView({
    a: { doc: before, extensions: [shared, described(labels[0])] },
    b: { doc: after, extensions: [shared, described(labels[1])] },
    parent,
    root: parent,
    collapseUnchanged,
  })
  return () => view.destroy()
}

const highlight = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.meta, tags.labelName, tags.typeName], color: 'var(--code-keyword)' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--text-faint)' },
])

const look: Extension = [
  syntaxHighlighting(highlight),
  EditorView.theme({
    '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '12.5px' },
    '&.cm-focused': { outline: 'none' },
    // Without ligatures: `<=` is what is typed.
    '.cm-scroller': { fontFamily: 'var(--mono)', fontFeatureSettings: '"calt" 0', lineHeight: '1.55' },
    '.cm-content': { padding: '8px 0', caretColor: 'var(--accent)' },
    '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-faint)', border: 'none' },
    '.cm-lineNumbers .cm-gutterElement': { padding: '0 6px 0 14px', minWidth: '28px' },
    '.cm-foldGutter .cm-gutterElement': { color: 'var(--text-faint)', cursor: 'pointer', padding: '0 4px' },
    '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
    '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
    '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection) !important' },
    '.cm-selectionMatch': { backgroundColor: 'var(--brass-ground)' },
    '.cm-matchingBracket': { backgroundColor: 'var(--accent-ground) !important' },
    '.cm-foldPlaceholder': { border: 'none', background: 'var(--sunken)', color: 'var(--text-soft)', padding: '0 6px' },
    '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--line)' },
    '.cm-panel input, .cm-panel button': { fontFamily: 'var(--font)', fontSize: '12px' },
    '.cm-textfield': { border: '1px solid var(--line-strong)', background: 'var(--surface)', borderRadius: '4px' },
    '.cm-button': {
      background: 'var(--sunken)',
      border: '1px solid var(--line-strong)',
      borderRadius: '4px',
      color: 'inherit',
    },
    '.cm-tooltip': {
      backgroundColor: 'var(--raised)',
      border: '1px solid var(--line-strong)',
      borderRadius: '6px',
      boxShadow: 'var(--shadow)',
      overflow: 'hidden',
    },
    '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '260px' },
    '.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px !important', lineHeight: '1.5' },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--active)', color: 'var(--text)' },
    '.cm-completionDetail': { color: 'var(--text-faint)', fontStyle: 'normal', marginLeft: '14px' },
    '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '650' },
    '.cm-completionInfo': { padding: '8px 10px', maxWidth: '340px', fontFamily: 'var(--font)', whiteSpace: 'pre-wrap' },
    '.cm-diagnostic': { fontFamily: 'var(--font)', fontSize: '12.5px', padding: '5px 10px' },
    '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
    '.cm-diagnostic-warning': { borderLeft: '3px solid var(--warn)' },
    '.cm-lintRange-error': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--bad) 1px',
      textUnderlineOffset: '3px',
    },
    '.cm-lintRange-warning': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--warn) 1px',
      textUnderlineOffset: '3px',
    },
    '.cm-gutter-lint': { width: '16px' },
    '.cm-changedLine': { backgroundColor: 'var(--good-ground) !important' },
    '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--bad-ground) !important' },
    '.cm-changedText': { background: 'color-mix(in srgb, var(--good) 13%, transparent) !important' },
    '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
      background: 'color-mix(in srgb, var(--bad) 13%, transparent) !important',
    },
    // The sign that CodeMirror puts there is in few fonts.
    '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
    '.cm-collapsedLines': { color: 'var(--text-faint)', background: 'var(--sunken)', fontFamily: 'var(--font)' },
  }),
]
