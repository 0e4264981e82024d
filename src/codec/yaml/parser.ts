// Parses YAML tokens into events: the grammar of YAML 1.1 as a state machine with a stack, after libyaml, whose error
// messages Kubernetes passes on. Only the first document of a stream is read.
import type { CodecError } from '../codec-error.js'
import { yamlError } from './cursor.js'
import type { YamlText } from './reader.js'
import { type Token, YamlScanner } from './scanner.js'
import type { Tag } from './tags.js'

export interface YamlScalar {
  type: 'scalar'
  line: number
  column: number
  text: string
  /** Not quoted, so it may resolve to another type than string. */
  plain: boolean
  tag: string
  anchor: string
}

/** Lines and columns are counted from 0. A tag is fully expanded; an absent tag or anchor is empty. */
export type YamlEvent =
  | YamlScalar
  | { type: 'start'; line: number; column: number; kind: 'sequence' | 'mapping'; anchor: string }
  | { type: 'end'; line: number }
  | { type: 'alias'; line: number; column: number; name: string }

type Position = Pick<Token, 'line' | 'column'>

type State = () => YamlEvent

const DEFAULT_TAGS = [
  ['!', '!'],
  ['!!', 'tag:yaml.org,2002:'],
] as const

export class YamlParser {
  private readonly scanner: YamlScanner
  private readonly states: State[] = []
  private readonly marks: number[] = [] // the start lines of the open collections
  private readonly tagPrefixes = new Map<string, string>()
  private state: State = () => this.parseNode(true, false)

  constructor(source: YamlText) {
    this.scanner = new YamlScanner(source)
  }

  /** Moves to the content of the first document. False if there is none. */
  startDocument(): boolean {
    const first = this.scanner.peek().type
    if (first === 'stream-end') return false
    this.parseDirectives()
    if (first === 'directive' || first === 'document-start') {
      const { type, line } = this.scanner.peek()
      if (type !== 'document-start') throw yamlError('did not find expected <document start>', line)
      this.scanner.skip()
      this.state = () => this.parseDocumentContent()
    }
    return true
  }

  /** The next event of the document; must be called until its root is complete. */
  next(): YamlEvent {
    return this.state()
  }

  /** Checks that the document ends after its root. Anything after the document is not read. */
  endDocument(): void {
    this.scanner.peek()
  }

  private parseDirectives(): void {
    let version: string | undefined
    for (let token = this.scanner.peek(); token.type === 'directive'; token = this.scanner.peek()) {
      const { directive, line } = token
      if ('version' in directive) {
        if (version !== undefined) throw yamlError('found duplicate %YAML directive', line)
        if (directive.version !== '1.1') throw yamlError('found incompatible YAML document', line)
        version = directive.version
      } else {
        if (this.tagPrefixes.has(directive.handle)) throw yamlError('found duplicate %TAG directive', line)
        this.tagPrefixes.set(directive.handle, directive.prefix)
      }
      this.scanner.skip()
    }
    for (const [handle, prefix] of DEFAULT_TAGS) {
      if (!this.tagPrefixes.has(handle)) this.tagPrefixes.set(handle, prefix)
    }
  }

  private parseDocumentContent(): YamlEvent {
    const token = this.scanner.peek()
    const { type } = token
    const empty = type === 'directive' || type === 'document-start' || type === 'document-end' || type === 'stream-end'
    return empty ? emptyScalar(token) : this.parseNode(true, false)
  }

  private parseNode(block: boolean, indentless: boolean): YamlEvent {
    let token = this.scanner.peek()
    if (token.type === 'alias') {
      this.scanner.skip()
      this.pop()
      return { type: 'alias', line: token.line, column: token.column, name: token.name }
    }
    const { line, column } = token
    const position = { line, column }
    let anchor = ''
    let tag = ''
    let tagged: { tag: Tag; line: number } | undefined
    for (; token.type === 'anchor' || token.type === 'tag'; token = this.scanner.peek()) {
      if (token.type === 'anchor' && anchor === '') anchor = token.name
      else if (token.type === 'tag' && tagged === undefined) tagged = token
      else break
      this.scanner.skip()
    }
    if (tagged !== undefined) tag = this.resolveTag(tagged.tag, tagged.line, line)

    if (indentless && token.type === 'block-entry') {
      this.state = this.indentlessEntry
      return { type: 'start', kind: 'sequence', line, column, anchor }
    }
    if (token.type === 'scalar') {
      this.scanner.skip()
      this.pop()
      const plain = (tag === '' && token.plain) || tag === '!'
      return { type: 'scalar', line, column, text: token.text, plain, tag, anchor }
    }
    switch (token.type) {
      case 'flow-sequence-start':
        return this.open('sequence', position, anchor, this.firstFlowEntry)
      case 'flow-mapping-start':
        return this.open('mapping', position, anchor, this.firstFlowKey)
      case 'block-sequence-start':
        if (block) return this.open('sequence', position, anchor, this.blockEntry)
        break
      case 'block-mapping-start':
        if (block) return this.open('mapping', position, anchor, this.blockKey)
    }
    if (anchor !== '' || tag !== '') {
      this.pop()
      return { type: 'scalar', line, column, text: '', plain: tag === '', tag, anchor }
    }
    throw parseError('did not find expected node content', token, line)
  }

  private resolveTag({ handle, suffix }: Tag, tagLine: number, line: number): string {
    if (handle === '') return suffix
    const prefix = this.tagPrefixes.get(handle)
    if (prefix === undefined || prefix + suffix === '') {
      throw yamlError('found undefined tag handle', tagLine === 0 ? line : tagLine)
    }
    return prefix + suffix
  }

  private open(kind: 'sequence' | 'mapping', { line, column }: Position, anchor: string, state: State): YamlEvent {
    this.marks.push(this.scanner.peek().line)
    this.scanner.skip()
    this.state = state
    return { type: 'start', kind, line, column, anchor }
  }

  private close(line: number): YamlEvent {
    this.scanner.skip()
    this.marks.pop()
    this.pop()
    return { type: 'end', line }
  }

  private pop(): void {
    this.state = this.states.pop() ?? (() => this.parseNode(true, false))
  }

  /** Reads a node, then continues with that state. */
  private nodeThen(state: State, block: boolean, indentless: boolean): YamlEvent {
    this.states.push(state)
    return this.parseNode(block, indentless)
  }

  private emptyThen(state: State, at: Position): YamlEvent {
    this.state = state
    return emptyScalar(at)
  }

  private readonly blockEntry: State = () => {
    const token = this.scanner.peek()
    if (token.type === 'block-end') return this.close(token.line)
    if (token.type !== 'block-entry') {
      throw parseError("did not find expected '-' indicator", token, this.marks.at(-1)!)
    }
    this.scanner.skip()
    const { type } = this.scanner.peek()
    if (type === 'block-entry' || type === 'block-end') return this.emptyThen(this.blockEntry, token)
    return this.nodeThen(this.blockEntry, true, false)
  }

  private readonly indentlessEntry: State = () => {
    const token = this.scanner.peek()
    if (token.type !== 'block-entry') {
      this.pop()
      return { type: 'end', line: token.line }
    }
    this.scanner.skip()
    const { type } = this.scanner.peek()
    if (type === 'block-entry' || type === 'key' || type === 'value' || type === 'block-end') {
      return this.emptyThen(this.indentlessEntry, token)
    }
    return this.nodeThen(this.indentlessEntry, true, false)
  }

  private readonly blockKey: State = () => {
    const token = this.scanner.peek()
    if (token.type === 'block-end') return this.close(token.line)
    if (token.type !== 'key') throw parseError('did not find expected key', token, this.marks.at(-1)!)
    this.scanner.skip()
    return this.blockNodeOrEmpty(this.blockValue, token)
  }

  private readonly blockValue: State = () => {
    const token = this.scanner.peek()
    if (token.type !== 'value') return this.emptyThen(this.blockKey, token)
    this.scanner.skip()
    return this.blockNodeOrEmpty(this.blockKey, token)
  }

  private blockNodeOrEmpty(state: State, at: Position): YamlEvent {
    const { type } = this.scanner.peek()
    if (type === 'key' || type === 'value' || type === 'block-end') return this.emptyThen(state, at)
    return this.nodeThen(state, true, true)
  }

  private readonly firstFlowEntry: State = () => this.parseFlowEntry(this.scanner.peek())
  private readonly flowEntry: State = () => {
    let token = this.scanner.peek()
    if (token.type !== 'flow-sequence-end') token = this.takeSeparator(token, ']')
    return this.parseFlowEntry(token)
  }

  private parseFlowEntry(token: Token): YamlEvent {
    if (token.type === 'flow-sequence-end') return this.close(token.line)
    if (token.type !== 'key') return this.nodeThen(this.flowEntry, false, false)
    this.scanner.skip()
    this.state = this.pairKey
    return { type: 'start', kind: 'mapping', line: token.line, column: token.column, anchor: '' }
  }

  // A single pair in a list, `[a: b]`, is a mapping.
  private readonly pairKey: State = () => {
    const token = this.scanner.peek()
    const { type } = token
    if (type !== 'value' && type !== 'flow-entry' && type !== 'flow-sequence-end') {
      return this.nodeThen(this.pairValue, false, false)
    }
    this.scanner.skip()
    return this.emptyThen(this.pairValue, token)
  }

  private readonly pairValue: State = () => {
    const token = this.scanner.peek()
    if (token.type === 'value') {
      this.scanner.skip()
      const next = this.scanner.peek().type
      if (next !== 'flow-entry' && next !== 'flow-sequence-end') return this.nodeThen(this.pairEnd, false, false)
    }
    return this.emptyThen(this.pairEnd, token)
  }

  private readonly pairEnd: State = () => {
    this.state = this.flowEntry
    return { type: 'end', line: this.scanner.peek().line }
  }

  private readonly firstFlowKey: State = () => this.parseFlowKey(this.scanner.peek())
  private readonly flowKey: State = () => {
    let token = this.scanner.peek()
    if (token.type !== 'flow-mapping-end') token = this.takeSeparator(token, '}')
    return this.parseFlowKey(token)
  }

  private parseFlowKey(token: Token): YamlEvent {
    if (token.type === 'flow-mapping-end') return this.close(token.line)
    if (token.type !== 'key') return this.nodeThen(this.emptyFlowValue, false, false)
    this.scanner.skip()
    const next = this.scanner.peek()
    if (next.type === 'value' || next.type === 'flow-entry' || next.type === 'flow-mapping-end') {
      return this.emptyThen(this.flowValue, next)
    }
    return this.nodeThen(this.flowValue, false, false)
  }

  private readonly flowValue: State = () => {
    let token = this.scanner.peek()
    if (token.type === 'value') {
      this.scanner.skip()
      token = this.scanner.peek()
      if (token.type !== 'flow-entry' && token.type !== 'flow-mapping-end') {
        return this.nodeThen(this.flowKey, false, false)
      }
    }
    return this.emptyThen(this.flowKey, token)
  }

  private readonly emptyFlowValue: State = () => this.emptyThen(this.flowKey, this.scanner.peek())

  private takeSeparator(token: Token, bracket: string): Token {
    if (token.type !== 'flow-entry') {
      throw parseError(`did not find expected ',' or '${bracket}'`, token, this.marks.at(-1)!)
    }
    this.scanner.skip()
    return this.scanner.peek()
  }
}

const emptyScalar = ({ line, column }: Position): YamlEvent => ({
  type: 'scalar',
  line,
  column,
  text: '',
  plain: true,
  tag: '',
  anchor: '',
})

/** Unlike the scanner's, these errors count lines from 0, so Kubernetes reports the line before. */
const parseError = (problem: string, { line }: Token, contextLine: number): CodecError =>
  yamlError(problem, line === 0 ? contextLine : line)
