// Scans YAML 1.1 text into tokens as libyaml does, so that Kubernetes' errors appear at the same position with the same
// messages. Indentation becomes block-start and block-end tokens. A key is recognized only when its `:` follows (a
// "simple key"); its key token is then inserted before the tokens scanned since.
import {
  atDocumentMark,
  type Cursor,
  column,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isEnd,
  peek,
  SPACE,
  scanError,
  skipComment,
  TAB,
  takeBreak,
} from './cursor.js'
import type { YamlText } from './reader.js'
import { scanBlockScalar, scanPlainScalar, scanQuotedScalar } from './scalars.js'
import { type Directive, scanAnchor, scanDirective, scanTag, type Tag } from './tags.js'

/** Lines and columns are counted from 0. */
export type Token = { line: number; column: number } & (
  | { type: Mark }
  | { type: 'directive'; directive: Directive }
  | { type: 'alias' | 'anchor'; name: string }
  | { type: 'tag'; tag: Tag }
  | { type: 'scalar'; text: string; plain: boolean }
)

type Mark =
  | 'stream-end'
  | 'document-start'
  | 'document-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value'

/** A position where a key may have begun: the number of its first token, counted from the beginning. */
interface SimpleKey {
  possible: boolean
  required: boolean
  token: number
  at: number
  line: number
  column: number
}

const MAX_DEPTH = 10_000
/** A key must end on its line and within this many characters. */
const MAX_KEY_LENGTH = 1024

export class YamlScanner {
  private readonly cursor: Cursor
  private readonly queue: Token[] = []
  private head = 0
  private taken = 0
  private ready = false
  /** The column of the current block, and those of the blocks around it. */
  private indent = -1
  private readonly indents: number[] = []
  /** One for each level of flow collections, and one for the block context. */
  private readonly keys: SimpleKey[] = [{ possible: false, required: false, token: 0, at: 0, line: 0, column: 0 }]
  private readonly keyOfToken = new Map<number, number>()
  private keyAllowed = true

  constructor(private readonly source: YamlText) {
    this.cursor = { text: `${source.text}\0\0\0\0`, at: 0, line: 0, lineStart: 0 }
    this.checkReadable()
  }

  /** The next token, without removing it. */
  peek(): Token {
    while (!this.ready) {
      if (this.head < this.queue.length && !this.mayBecomeKey()) this.ready = true
      else this.fetch()
    }
    return this.queue[this.head]!
  }

  /** Removes the token that was peeked at. */
  skip(): void {
    this.ready = false
    this.taken++
    this.head++
    if (this.head === this.queue.length) {
      this.queue.length = 0
      this.head = 0
    }
  }

  private get flowLevel(): number {
    return this.keys.length - 1
  }

  /** Whether the first token may turn out to be a key, so that more must be scanned. */
  private mayBecomeKey(): boolean {
    const level = this.keyOfToken.get(this.taken)
    return level !== undefined && this.isValidKey(this.keys[level]!)
  }

  private fetch(): void {
    try {
      this.fetchToken()
    } catch (error) {
      this.checkReadable()
      throw error
    }
    this.checkReadable()
  }

  private checkReadable(): void {
    if (this.source.error && this.cursor.at + 4 > this.source.text.length) throw this.source.error
  }

  private fetchToken(): void {
    const { cursor } = this
    this.skipToToken()
    this.closeBlocks(column(cursor))
    const c = peek(cursor)
    const next = peek(cursor, 1)
    if (isEnd(c)) return this.fetchStreamEnd()
    if (column(cursor) === 0 && c === 0x25) return this.fetchDirective()
    if (atDocumentMark(cursor)) return this.fetchDocumentMark(c === 0x2d ? 'document-start' : 'document-end')
    switch (c) {
      case 0x5b:
        return this.openFlow('flow-sequence-start')
      case 0x7b:
        return this.openFlow('flow-mapping-start')
      case 0x5d:
        return this.closeFlow('flow-sequence-end')
      case 0x7d:
        return this.closeFlow('flow-mapping-end')
      case 0x2c:
        return this.fetchFlowEntry()
      case 0x2a:
        return this.fetchNamed('alias')
      case 0x26:
        return this.fetchNamed('anchor')
      case 0x21:
        return this.fetchTag()
      case 0x27:
      case 0x22:
        return this.fetchQuoted(c === 0x27)
    }
    const inFlow = this.flowLevel > 0
    if (c === 0x2d && isBlankOrEnd(next)) return this.fetchBlockEntry()
    if (c === 0x3f && (inFlow || isBlankOrEnd(next))) return this.fetchKey()
    if (c === 0x3a && (inFlow || isBlankOrEnd(next))) return this.fetchValue()
    if ((c === 0x7c || c === 0x3e) && !inFlow) return this.fetchBlockScalar(c === 0x7c)
    if (canStartPlain(c, next, inFlow)) return this.fetchPlain()
    throw scanError(cursor, 'found character that cannot start any token')
  }

  /** Skips blanks, comments and line breaks. Tabs are not allowed as indentation where a key could begin. */
  private skipToToken(): void {
    const { cursor } = this
    for (;;) {
      if (column(cursor) === 0 && peek(cursor) === 0xfeff) cursor.at++
      const blank = this.flowLevel > 0 || !this.keyAllowed ? TAB : SPACE
      while (peek(cursor) === SPACE || peek(cursor) === blank) cursor.at++
      skipComment(cursor)
      if (!isBreak(peek(cursor))) return
      takeBreak(cursor)
      if (this.flowLevel === 0) this.keyAllowed = true
    }
  }

  private fetchStreamEnd(): void {
    const { cursor } = this
    if (column(cursor) !== 0) {
      cursor.lineStart = cursor.at
      cursor.line++
    }
    this.closeBlocks(-1)
    this.dropKey()
    this.keyAllowed = false
    this.append('stream-end')
  }

  private fetchDirective(): void {
    this.closeBlocks(-1)
    this.dropKey()
    this.keyAllowed = false
    const at = this.position
    this.queue.push({ type: 'directive', ...at, directive: scanDirective(this.cursor) })
  }

  private fetchDocumentMark(type: Mark): void {
    this.closeBlocks(-1)
    this.dropKey()
    this.keyAllowed = false
    this.append(type)
    this.cursor.at += 3
  }

  private openFlow(type: Mark): void {
    this.saveKey()
    const { at, line } = this.cursor
    this.keys.push({ possible: false, required: false, token: this.nextToken, at, line, column: column(this.cursor) })
    if (this.flowLevel > MAX_DEPTH) throw scanError(this.cursor, `exceeded max depth of ${MAX_DEPTH}`)
    this.keyAllowed = true
    this.append(type)
    this.cursor.at++
  }

  private closeFlow(type: Mark): void {
    this.dropKey()
    if (this.flowLevel > 0) this.keyOfToken.delete(this.keys.pop()!.token)
    this.keyAllowed = false
    this.append(type)
    this.cursor.at++
  }

  private fetchFlowEntry(): void {
    this.dropKey()
    this.keyAllowed = true
    this.append('flow-entry')
    this.cursor.at++
  }

  private fetchBlockEntry(): void {
    if (this.flowLevel === 0) {
      if (!this.keyAllowed) throw scanError(this.cursor, 'block sequence entries are not allowed in this context')
      this.openBlock(column(this.cursor), 'block-sequence-start', this.queue.length, this.cursor.line)
    }
    this.dropKey()
    this.keyAllowed = true
    this.append('block-entry')
    this.cursor.at++
  }

  private fetchKey(): void {
    if (this.flowLevel === 0) {
      if (!this.keyAllowed) throw scanError(this.cursor, 'mapping keys are not allowed in this context')
      this.openBlock(column(this.cursor), 'block-mapping-start', this.queue.length, this.cursor.line)
    }
    this.dropKey()
    this.keyAllowed = this.flowLevel === 0
    this.append('key')
    this.cursor.at++
  }

  private fetchValue(): void {
    const key = this.keys.at(-1)!
    if (this.isValidKey(key)) {
      const index = this.head + key.token - this.taken
      this.queue.splice(index, 0, { type: 'key', line: key.line, column: key.column })
      this.openBlock(key.column, 'block-mapping-start', index, key.line)
      key.possible = false
      this.keyOfToken.delete(key.token)
      this.keyAllowed = false
    } else {
      if (this.flowLevel === 0) {
        if (!this.keyAllowed) throw scanError(this.cursor, 'mapping values are not allowed in this context')
        this.openBlock(column(this.cursor), 'block-mapping-start', this.queue.length, this.cursor.line)
      }
      this.keyAllowed = this.flowLevel === 0
    }
    this.append('value')
    this.cursor.at++
  }

  private fetchNamed(type: 'alias' | 'anchor'): void {
    this.saveKey()
    this.keyAllowed = false
    const at = this.position
    this.queue.push({ type, ...at, name: scanAnchor(this.cursor) })
  }

  private fetchTag(): void {
    this.saveKey()
    this.keyAllowed = false
    const at = this.position
    this.queue.push({ type: 'tag', ...at, tag: scanTag(this.cursor) })
  }

  private fetchBlockScalar(literal: boolean): void {
    this.dropKey()
    this.keyAllowed = true
    const at = this.position
    this.queue.push({ type: 'scalar', ...at, text: scanBlockScalar(this.cursor, this.indent, literal), plain: false })
  }

  private fetchQuoted(single: boolean): void {
    this.saveKey()
    this.keyAllowed = false
    const at = this.position
    this.queue.push({ type: 'scalar', ...at, text: scanQuotedScalar(this.cursor, single), plain: false })
  }

  private fetchPlain(): void {
    this.saveKey()
    this.keyAllowed = false
    const at = this.position
    const { text, endsLine } = scanPlainScalar(this.cursor, this.indent + 1, this.flowLevel > 0)
    this.queue.push({ type: 'scalar', ...at, text, plain: true })
    if (endsLine) this.keyAllowed = true
  }

  private append(type: Mark): void {
    this.queue.push({ type, ...this.position })
  }

  private get position(): { line: number; column: number } {
    return { line: this.cursor.line, column: column(this.cursor) }
  }

  private get nextToken(): number {
    return this.taken + this.queue.length - this.head
  }

  private isValidKey(key: SimpleKey): boolean {
    if (!key.possible) return false
    if (key.line === this.cursor.line && key.at + MAX_KEY_LENGTH >= this.cursor.at) return true
    if (key.required) throw scanError(this.cursor, "could not find expected ':'", key.line)
    key.possible = false
    return false
  }

  private saveKey(): void {
    if (!this.keyAllowed) return
    const { at, line } = this.cursor
    const required = this.flowLevel === 0 && this.indent === column(this.cursor)
    this.dropKey()
    const token = this.nextToken
    this.keys[this.flowLevel] = { possible: true, required, token, at, line, column: column(this.cursor) }
    this.keyOfToken.set(token, this.flowLevel)
  }

  private dropKey(): void {
    const key = this.keys.at(-1)!
    if (!key.possible) return
    if (key.required) throw scanError(this.cursor, "could not find expected ':'", key.line)
    key.possible = false
    this.keyOfToken.delete(key.token)
  }

  private openBlock(indent: number, type: Mark, index: number, line: number): void {
    if (this.flowLevel > 0 || this.indent >= indent) return
    this.indents.push(this.indent)
    this.indent = indent
    if (this.indents.length > MAX_DEPTH) throw scanError(this.cursor, `exceeded max depth of ${MAX_DEPTH}`)
    this.queue.splice(index, 0, { type, line, column: indent })
  }

  private closeBlocks(indent: number): void {
    if (this.flowLevel > 0) return
    while (this.indent > indent) {
      this.append('block-end')
      this.indent = this.indents.pop()!
    }
  }
}

const INDICATORS = new Set(Array.from('-?:,[]{}#&*!|>\'"%@`').map(mark => mark.charCodeAt(0)))

function canStartPlain(c: number, next: number, inFlow: boolean): boolean {
  if (!isBlankOrEnd(c) && !INDICATORS.has(c)) return true
  if (c === 0x2d) return !isBlank(next)
  return !inFlow && (c === 0x3f || c === 0x3a) && !isBlankOrEnd(next)
}
