// Reads an expression that has syntax errors, to report the first one and those behind it. The messages, the ways to go
// on after an error (leave out a token, assume a missing one, skip to what may follow) and the limits on these are
// those of cel-go and its parser generator ANTLR, since clients show the messages.
import { type RuleName, type State, startOf } from './grammar-network.js'
import { type Lexed, T, TOKEN_NAMES, type Token } from './lexer.js'
import { type Context, EPSILON, expectedTokens, Lookahead, LookaheadLimitExceeded, nextTokens } from './lookahead.js'
import { buildTree, type ParseNode } from './parse-tree.js'
import { type Issue, MAX_SYNTAX_ERRORS } from './source.js'
import { type SyntaxOptions, TreeBuilder } from './tree-builder.js'

/** How often parsing continues after an error. */
const MAX_RECOVERIES = 30
/** How many tokens are skipped to go on after one error. */
const MAX_SKIPPED_TOKENS = 256

export interface Diagnosis {
  readonly issues: readonly Issue[]
  /** States visited and tokens looked at to find them. */
  readonly steps: number
}

export function diagnose(lexed: Lexed, options: SyntaxOptions, maxDepth: number): Diagnosis {
  const reader = new Reader(lexed, maxDepth)
  const tree = reader.read()
  const errors = limitSyntaxErrors(lexed.issues, reader.issues)
  const builder = new TreeBuilder(options)
  if (tree && errors.length <= MAX_SYNTAX_ERRORS) buildTree(builder, tree)
  return { issues: [...errors, ...builder.issues], steps: reader.steps }
}

/** Characters that are no token, and tokens that do not fit, are counted together. */
function limitSyntaxErrors(ofLexer: readonly Issue[], ofReader: readonly Issue[]): readonly Issue[] {
  if (ofLexer.length + ofReader.length <= MAX_SYNTAX_ERRORS) return [...ofLexer, ...ofReader]
  const sorted = [...ofLexer, ...ofReader].toSorted((a, b) => position(a) - position(b))
  const { offset } = sorted[MAX_SYNTAX_ERRORS]!
  const message = `Syntax error: More than ${MAX_SYNTAX_ERRORS} syntax errors`
  return [...sorted.slice(0, MAX_SYNTAX_ERRORS), { offset, message }]
}

/** The error that ends reading has no offset, and comes last. */
const position = ({ offset }: Issue): number => (offset < 0 ? Infinity : offset)

/** A token that does not fit, thrown up to the rule that deals with it. */
class Mismatch extends Error {
  constructor(readonly text: string) {
    super(text)
  }
}

/** Ends reading; what was found so far is reported. */
class Stop extends Error {}

class Reader {
  readonly issues: Issue[] = []
  private readonly tokens: readonly Token[]
  private at = 0
  private readonly lookahead: Lookahead
  private context: Context = { parent: undefined, follow: undefined, precedence: 0, stack: undefined }
  private depth = 0
  /** Between an error and the next token that fits, no further error is reported. */
  private recovering = false
  private lastErrorAt = -1
  private readonly lastErrorStates = new Set<State>()
  private recoveries = 0

  constructor(
    { tokens }: Lexed,
    private readonly maxDepth: number,
  ) {
    this.tokens = tokens
    this.lookahead = new Lookahead(tokens)
  }

  get steps(): number {
    return this.lookahead.steps + this.lookahead.lookups
  }

  /** The tree, or undefined if reading had to stop. */
  read(): ParseNode | undefined {
    try {
      return this.rule('start', undefined, 0)
    } catch (error) {
      if (error instanceof LookaheadLimitExceeded) this.report('the expression is too ambiguous to be read further')
      else if (!(error instanceof Stop)) throw error
      return undefined
    }
  }

  private get token(): Token {
    return this.tokens[this.at]!
  }

  private report(text: string): void {
    // A reserved word where a name is expected is reported as a plain mismatch.
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
    this.context = name === 'start' ? outer : this.lookahead.enter(outer, follow, precedence)
    const node: ParseNode = { rule: name, offset: this.token.offset, children: [] }
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
    const prediction = this.lookahead.predict(state, this.context, this.at)
    if ('way' in prediction) return prediction.way
    const failedAt = Math.min(prediction.failedAt, this.tokens.length - 1)
    const text = `no viable alternative at input ${this.span(failedAt)}`
    // It is reported at the token that fits no alternative.
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
    // The same error at the same token: without this, reading would not get any further.
    if (this.lastErrorAt === this.at && this.lastErrorStates.has(state)) this.consume()
    this.lastErrorAt = this.at
    this.lastErrorStates.add(state)
    this.skipTo(this.recoverySet(), MAX_SKIPPED_TOKENS)
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

  private skipTo(set: ReadonlySet<number>, limit = Infinity): void {
    for (let skipped = 0; this.token.type !== T.EOF && !set.has(this.token.type); skipped++) {
      if (skipped >= limit) {
        this.issues.push({ offset: -1, message: `error recovery token lookahead limit exceeded: ${limit}` })
        throw new Stop()
      }
      this.consume()
    }
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
