// Encodes YAML as the API server does (sigs.k8s.io/yaml with libyaml's emitter): keys in natural order, lists at the
// indentation of their key, quotes only where a string would be read as another type, lines folded after 80 columns.
import { Buffer } from 'node:buffer'
import { printFloat } from '../../meta/go/go-text.js'
import { isObject, type Value, WholeFloat } from '../../meta/values/value.js'
import { encodeJson } from '../json/encode.js'
import { compareYamlKeys } from './key-order.js'
import { resolveScalar } from './resolve.js'
import { type Analysis, analyze, doubleQuotedEscape, looksLikeBase60 } from './styles.js'

/** `width`: the column after which lines are folded. */
export function encodeYaml(value: Value, width = WIDTH): string {
  let text = ''
  for (const piece of yamlPieces(value, width)) text += piece
  return text
}

/** The same in pieces. Deep values are much longer in YAML than in JSON, because every line is indented. */
export const yamlPieces = (value: Value, width = WIDTH): Generator<string> => new Emitter(width).document(value)

/** About so many characters are one piece. */
const PIECE = 64 * 1024

const INDENT = 2
const WIDTH = 80
/** Longer keys are written as explicit keys, after a `?`. */
const MAX_SIMPLE_KEY_BYTES = 128

/** A list or map that is being written. */
interface Open {
  keys: string[] | undefined
  members: Value[]
  done: number
  outerIndent: number
}

class Emitter {
  private text = ''
  private column = 0
  private indent = -1
  /** Whether the position is after white space, and whether the line has only indentation and indicators so far. */
  private afterSpace = true
  private inIndentation = true
  private readonly open: Open[] = []

  constructor(private readonly width: number) {}

  *document(root: Value): Generator<string> {
    this.node(root, false)
    for (let top = this.open.at(-1); top !== undefined; top = this.open.at(-1)) {
      if (top.done === top.members.length) {
        this.indent = top.outerIndent
        this.open.pop()
        continue
      }
      const i = top.done++
      this.newLine()
      if (top.keys === undefined) {
        this.indicator('-', true, true)
        this.node(top.members[i]!, false)
      } else {
        this.key(top.keys[i]!)
        this.node(top.members[i]!, true)
      }
      if (this.text.length < PIECE) continue
      yield this.text
      this.text = ''
    }
    this.newLine()
    yield this.text
  }

  private key(key: string): void {
    const simple = !analyze(key).multiline && Buffer.byteLength(key) <= MAX_SIMPLE_KEY_BYTES
    if (simple) {
      this.string(key, true)
      this.indicator(':', false, false)
    } else {
      this.indicator('?', true, true)
      this.string(key, false)
      this.newLine()
      this.indicator(':', true, true)
    }
  }

  private node(value: Value, inMap: boolean): void {
    if (Array.isArray(value) && value.length > 0) {
      // A list that is the value of a key stays at the key's indentation.
      this.begin(undefined, value, inMap && !this.inIndentation)
    } else if (isObject(value) && Object.keys(value).length > 0) {
      const keys = Object.keys(value).toSorted(compareYamlKeys)
      this.begin(
        keys,
        keys.map(key => value[key]!),
        false,
      )
    } else if (typeof value === 'string') this.string(value, false)
    else if (typeof value === 'object' && value !== null && !(value instanceof WholeFloat)) {
      this.indicator(Array.isArray(value) ? '[]' : '{}', true, false)
    } else this.plain(encodeScalar(value), false)
  }

  private begin(keys: string[] | undefined, members: Value[], indentless: boolean): void {
    this.open.push({ keys, members, done: 0, outerIndent: this.indent })
    if (this.indent < 0) this.indent = 0
    else if (!indentless) this.indent += INDENT
  }

  private string(text: string, simpleKey: boolean): void {
    const wellFormed = text.toWellFormed()
    const analysis = analyze(wellFormed)
    const outerIndent = this.indent
    this.indent = this.indent < 0 ? INDENT : this.indent + INDENT
    switch (chooseStyle(wellFormed, analysis, simpleKey)) {
      case 'plain':
        this.plain(wellFormed, !simpleKey)
        break
      case 'single':
        this.singleQuoted(wellFormed, !simpleKey)
        break
      case 'double':
        this.doubleQuoted(wellFormed, !simpleKey)
        break
      case 'literal':
        this.literal(wellFormed)
    }
    this.indent = outerIndent
  }

  private plain(text: string, mayFold: boolean): void {
    if (!this.afterSpace) this.put(' ')
    this.folded(text, mayFold, false)
    this.afterSpace = false
    this.inIndentation = false
  }

  private singleQuoted(text: string, mayFold: boolean): void {
    this.indicator("'", true, false)
    this.folded(text, mayFold, true)
    this.indicator("'", false, false)
    this.afterSpace = false
    this.inIndentation = false
  }

  /** Writes words and the blanks between them, some of which become line breaks. */
  private folded(text: string, mayFold: boolean, quoted: boolean): void {
    let afterSpaces = false
    let afterBreak = false
    for (let i = 0; i < text.length; i++) {
      const c = text.charAt(i)
      if (c === ' ') {
        const inner = !quoted || (i > 0 && i < text.length - 1)
        if (mayFold && !afterSpaces && this.column > this.width && inner && text.charAt(i + 1) !== ' ') this.newLine()
        else this.put(c)
        afterSpaces = true
      } else if (BREAKS.includes(c)) {
        this.breakWith(c)
        this.inIndentation = true
        afterBreak = true
      } else {
        if (afterBreak) this.newLine()
        this.put(quoted && c === "'" ? "''" : c)
        this.inIndentation = false
        afterSpaces = false
        afterBreak = false
      }
    }
  }

  private doubleQuoted(text: string, mayFold: boolean): void {
    this.indicator('"', true, false)
    let afterSpaces = false
    for (let i = 0; i < text.length; ) {
      const character = String.fromCodePoint(text.codePointAt(i)!)
      const escape = doubleQuotedEscape(character)
      if (escape !== undefined) this.put(escape)
      else if (
        character === ' ' &&
        mayFold &&
        !afterSpaces &&
        this.column > this.width &&
        i > 0 &&
        i < text.length - 1
      ) {
        this.newLine()
        if (text.charAt(i + 1) === ' ') this.put('\\')
      } else this.put(character)
      afterSpaces = character === ' '
      i += character.length
    }
    this.indicator('"', false, false)
    this.afterSpace = false
    this.inIndentation = false
  }

  private literal(text: string): void {
    const startsBlank = text.startsWith(' ') || BREAKS.includes(text.charAt(0))
    const endsInBreak = BREAKS.includes(text.at(-1)!)
    const endsInBreaks = endsInBreak && (text.length === 1 || BREAKS.includes(text.at(-2)!))
    this.indicator(`|${startsBlank ? INDENT : ''}${endsInBreaks ? '+' : endsInBreak ? '' : '-'}`, true, false)
    this.breakWith('\n')
    this.inIndentation = true
    this.afterSpace = true
    let afterBreak = true
    for (const c of text) {
      if (BREAKS.includes(c)) {
        this.breakWith(c)
        this.inIndentation = true
        afterBreak = true
      } else {
        if (afterBreak) this.newLine()
        this.put(c)
        this.inIndentation = false
        afterBreak = false
      }
    }
  }

  private indicator(mark: string, needsSpace: boolean, indents: boolean): void {
    if (needsSpace && !this.afterSpace) this.put(' ')
    this.put(mark)
    this.afterSpace = false
    this.inIndentation = this.inIndentation && indents
  }

  /** Moves to the indentation, on a new line unless the current one is not past it. */
  private newLine(): void {
    const indent = Math.max(this.indent, 0)
    if (!this.inIndentation || this.column > indent || (this.column === indent && !this.afterSpace))
      this.breakWith('\n')
    if (this.column < indent) this.put(' '.repeat(indent - this.column))
    this.afterSpace = true
    this.inIndentation = true
  }

  private breakWith(c: string): void {
    this.text += c
    this.column = 0
  }

  private put(text: string): void {
    this.text += text
    this.column += text.length
  }
}

const BREAKS = '\n\r\u0085\u2028\u2029'

type Style = 'plain' | 'single' | 'double' | 'literal'

function chooseStyle(text: string, analysis: Analysis, simpleKey: boolean): Style {
  if (text.includes('\n')) return analysis.literalAllowed && !simpleKey ? 'literal' : 'double'
  // An unquoted `<<` would be read as a merge key.
  if (typeof resolveScalar(text) !== 'string' || looksLikeBase60(text) || text === '<<') return 'double'
  if (simpleKey && analysis.multiline) return 'double'
  if (analysis.plainAllowed && !(text === '' && simpleKey)) return 'plain'
  return analysis.singleQuotedAllowed ? 'single' : 'double'
}

/** Numbers are printed as they are after decoding the JSON that Kubernetes prints first. */
function encodeScalar(value: null | boolean | number | bigint | WholeFloat): string {
  const json = encodeJson(value)
  const scalar = resolveScalar(json)
  if (typeof scalar === 'number') return printFloat(scalar)
  return typeof scalar === 'bigint' ? String(scalar) : json
}
