// Reads an expression that has syntax errors, to say what they are: the first and those behind it. The words, and the
// ways to go on after an error (leave out a token, take one as given, skip to what may follow), are those of the
// reference's parser generator, since clients show its messages.
import {
  type Context,
  EPSILON,
  expectedTokens,
  nextTokens,
  predict,
  type RuleName,
  type State,
  startOf,
} from './grammar-network.js'
import { type Lexed, T, TOKEN_NAMES, type Token } from './lexer.js'
import { buildTree, type ParseNode } from './parse-tree.js'
import type { Issue } from './source.js'
import { type SyntaxOptions, TreeBuilder } from './tree-builder.js'

/** After so many attempts to go on there is nothing more to learn. */
const MAX_RECOVERIES = 30
const MAX_REPORTS = 100

export function diagnose(lexed: Lexed, options: SyntaxOptions, maxDepth: number): readonly Issue[] {
  const reader = new Reader(lexed, maxDepth)
  const tree = reader.read()
  const builder = new TreeBuilder(options)
  if (tree) buildTree(builder, tree)
  return [...lexed.issues, ...reader.issues, ...builder.issues]
}

/** A token that does not fit, thrown up to the rule that deals with it. */
class Mismatch extends Error {
  constructor(readonly text: string) {
    super(text)
  }
}

class Stop extends Error {}

class Reader {
  readonly issues: Issue[] = []
  private readonly tokens: readonly Token[]
  private at = 0
  private context: Context = { parent: undefined, follow: undefined, precedence: 0 }
  private depth = 0
  /** Between an error and the next token that fits, nothing more is reported. */
  private recovering = false
  private lastErrorAt = -1
  private readonly lastErrorStates = new Set<State>()
  private recoveries = 0

  constructor(
    { tokens }: Lexed,
    private readonly maxDepth: number,
  ) {
    this.tokens = tokens
  }

  /** The tree, or undefined if reading had to stop. */
  read(): ParseNode | undefined {
    try {
      return this.rule('start', undefined, 0)
    } catch (error) {
      if (error instanceof Stop) return undefined
      throw error
    }
  }

  private get token(): Token {
    return this.tokens[this.at]!
  }

  private report(text: string): void {
    if (this.issues.length >= MAX_REPORTS) {
      this.issues.push({ offset: this.token.offset, message: `Syntax error: More than ${MAX_REPORTS} syntax errors` })
      throw new Stop()
    }
    // A reserved word where a name is expected is told as a plain mismatch.
    const message = text.replace(
      /^no viable alternative at input '.(true|false|null)'$/,
      "mismatched input '$1' expecting IDENTIFIER",
    )
    this.issues.push({ offset: this.token.offset, message: `Syntax error: ${message}` })
  }

  private rule(name: RuleName, follow: State | undefined, precedence: number): ParseNode {
    if (name === 'expr' && ++this.depth > this.maxDepth) {
      this.issues.push({ offset: -1, message: `expression recursion limit exceeded: ${this.maxDepth}` })
      throw new Stop()
    }
    const outer = this.context
    this.context = name === 'start' ? outer : { parent: outer, follow, precedence }
    const node: ParseNode = { rule: name, children: [] }
    let state = startOf(name)
    const enter = (next: State): void => {
      state = next
    }
    try {
      while (!state.end) this.step(node, state, enter)
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      if (!this.recovering) {
        this.report(error.text)
        this.recovering = true
      }
      this.recover(state)
    }
    this.context = outer
    if (name === 'expr') this.depth--
    return node
  }

  private step(node: ParseNode, state: State, enter: (next: State) => void): void {
    let edge = state.edges[0]!
    if (state.decision && state.edges.length > 1) {
      this.sync(state)
      edge = state.edges[this.decide(state)]!
    }
    if (edge.kind === 'free') enter(edge.to)
    else if (edge.kind === 'rule') {
      const child = this.rule(edge.rule, edge.to, edge.precedence)
      node.children.push(child)
      enter(edge.to)
    } else {
      const taken = this.match(state, edge.tokens)
      if (taken) node.children.push(taken)
      enter(edge.to)
    }
  }

  private decide(state: State): number {
    if (state.simple === true) {
      const way = state.edges.findIndex(edge => nextTokens(edge.to).has(this.token.type))
      if (way >= 0) return way
      const last = state.edges.length - 1
      if (nextTokens(state.edges[last]!.to).has(EPSILON) || state.rule !== 'escapeIdent') return last
      throw new Mismatch(`no viable alternative at input ${this.span(this.at)}`)
    }
    const prediction = predict(state, this.context, this.tokens, this.at)
    if ('way' in prediction) return prediction.way
    const failedAt = Math.min(prediction.failedAt, this.tokens.length - 1)
    const text = `no viable alternative at input ${this.span(failedAt)}`
    // It is reported where the token stands that fits no way.
    const back = this.at
    if (!this.recovering) {
      this.at = failedAt
      this.report(text)
      this.at = back
      this.recovering = true
    }
    throw new Mismatch(text)
  }

  private span(to: number): string {
    if (this.token.type === T.EOF) return "'<EOF>'"
    const texts = this.tokens
      .slice(this.at, to + 1)
      .map(({ type, before, text }, i) => (i === 0 ? '' : before) + (type === T.EOF ? '' : text))
    return `'${escapeSpace(texts.join(''))}'`
  }

  // ---- going on after an error

  private match(state: State, expected: readonly number[]): Token | undefined {
    if (expected.includes(this.token.type)) return this.consumeMatched()
    this.countRecovery()
    const deleted = this.deleteToken(state)
    if (deleted) return this.consumeMatched()
    const next = state.edges[0]!.to
    if (expectedTokens(next, this.context).has(this.token.type)) {
      if (!this.recovering) {
        this.recovering = true
        this.report(`missing ${this.expected(state)} at ${this.shown()}`)
      }
      return undefined
    }
    throw new Mismatch(`mismatched input ${this.shown()} expecting ${this.expected(state)}`)
  }

  private consumeMatched(): Token {
    this.recovering = false
    this.lastErrorStates.clear()
    this.lastErrorAt = -1
    const { token } = this
    this.consume()
    return token
  }

  private consume(): void {
    if (this.at < this.tokens.length - 1) this.at++
  }

  /** If the token behind fits, the one here is one too many. */
  private deleteToken(state: State): boolean {
    const next = this.tokens[Math.min(this.at + 1, this.tokens.length - 1)]!
    if (!expectedTokens(state, this.context).has(next.type) || this.token.type === T.EOF) return false
    this.reportUnwanted(state)
    this.consume()
    this.recovering = false
    return true
  }

  private reportUnwanted(state: State): void {
    if (this.recovering) return
    this.recovering = true
    this.report(`extraneous input ${this.shown()} expecting ${this.expected(state)}`)
  }

  /** Before a decision: makes sure that the token can be the next at all. */
  private sync(state: State): void {
    if (this.recovering) return
    const next = nextTokens(state)
    if (next.has(EPSILON) || next.has(this.token.type)) return
    if (state.decision === 'block' || state.decision === 'loopEntry') {
      if (this.deleteToken(state)) return
      throw new Mismatch(`mismatched input ${this.shown()} expecting ${this.expected(state)}`)
    }
    this.reportUnwanted(state)
    this.skipTo(new Set([...expectedTokens(state, this.context), ...this.recoverySet()]))
  }

  private recover(state: State): void {
    this.countRecovery()
    // No error may be met at one place twice without getting any further.
    if (this.lastErrorAt === this.at && this.lastErrorStates.has(state)) this.consume()
    this.lastErrorAt = this.at
    this.lastErrorStates.add(state)
    this.skipTo(this.recoverySet())
  }

  private countRecovery(): void {
    if (this.recoveries++ < MAX_RECOVERIES) return
    this.report(`error recovery attempt limit exceeded: ${MAX_RECOVERIES}`)
    throw new Stop()
  }

  /** What may follow any of the rules under way. */
  private recoverySet(): ReadonlySet<number> {
    const set = new Set<number>()
    for (let at: Context | undefined = this.context; at?.follow; at = at.parent) {
      for (const token of nextTokens(at.follow)) if (token !== EPSILON) set.add(token)
    }
    return set
  }

  private skipTo(set: ReadonlySet<number>): void {
    while (this.token.type !== T.EOF && !set.has(this.token.type)) this.consume()
  }

  // ---- words

  private shown(): string {
    return `'${escapeSpace(this.token.text)}'`
  }

  private expected(state: State): string {
    const names = [...expectedTokens(state, this.context)]
      .toSorted((a, b) => order(a) - order(b))
      .map(type => TOKEN_NAMES[type]!)
    return names.length === 1 ? names[0]! : `{${names.join(', ')}}`
  }
}

/** The end of the input is listed first. */
const order = (type: number): number => (type === T.EOF ? -1 : type)

const escapeSpace = (text: string): string =>
  text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
