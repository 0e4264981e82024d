// The parse tree of an expression with syntax errors to syntax nodes, as far as it goes, to find the other errors in
// it.

import type { RuleName } from './grammar-network.js'
import { T, type Token } from './lexer.js'
import type { Expr } from './syntax-tree.js'
import type { TreeBuilder } from './tree-builder.js'

export interface ParseNode {
  readonly rule: RuleName
  /** Where the token stands at which the rule began. */
  readonly offset: number
  readonly children: (ParseNode | Token)[]
}

type Part = ParseNode | Token

export function buildTree(builder: TreeBuilder, root: ParseNode): void {
  visit(root)

  /** A part that is missing was reported before. */
  function visit(node: Part | undefined): Expr {
    if (node === undefined || !('rule' in node)) return builder.hole(-1)
    const { rule, children } = node
    const nodes = children.filter((part): part is ParseNode => 'rule' in part)
    const token = (type: number): Token | undefined =>
      children.find((part): part is Token => !('rule' in part) && part.type === type)
    switch (rule) {
      case 'start':
      case 'optExpr':
        return visit(nodes[0])
      case 'expr': {
        const question = token(T.QUESTION)
        if (!question) return visit(nodes[0])
        return builder.call(question.offset, '_?_:_', [visit(nodes[0]), visit(nodes[1]), visit(nodes[2])])
      }
      case 'or':
      case 'and': {
        const terms = nodes.map(visit)
        const offsets = children.filter(part => !('rule' in part)).map(({ offset }) => offset)
        return builder.logical('', terms.length > 0 ? terms : [builder.hole(-1)], offsets.slice(0, terms.length - 1))
      }
      case 'relation':
      case 'calc':
        return operation(children)
      case 'unary': {
        const operators = children.filter(part => !('rule' in part))
        const operand = visit(nodes.at(-1))
        return operators.length % 2 === 0 ? operand : builder.call(operators[0]!.offset, '', [operand])
      }
      case 'member':
        return member(children)
      case 'primary':
        return primary(node, nodes, token)
      case 'literal': {
        const last = children.at(-1)
        if (last === undefined || 'rule' in last) return builder.hole(-1)
        return constant(last, children.length > 1, children[0] as Token)
      }
      default:
        for (const child of nodes) visit(child)
        return builder.hole(-1)
    }
  }

  function operation(children: readonly Part[]): Expr {
    let result: Expr | undefined
    let at = -1
    for (const part of children) {
      if (!('rule' in part)) at = part.offset
      else if (result === undefined) result = visit(part)
      else result = builder.call(at, '', [result, visit(part)])
    }
    return result ?? builder.hole(-1)
  }

  function member(children: readonly Part[]): Expr {
    let operand = visit(children[0])
    for (let i = 1; i < children.length; i++) {
      const part = children[i]!
      if ('rule' in part) continue
      if (part.type === T.LBRACKET) {
        const index = visit(ruleFrom(children, i))
        operand = builder.index(part.offset, operand, index, isToken(children[i + 1], T.QUESTION))
      } else if (part.type === T.DOT) {
        const name = children[i + 1]
        const open = children[i + 2]
        if (isToken(name, T.IDENTIFIER) && isToken(open, T.LPAREN)) {
          const args = children[i + 3]
          operand = builder.memberCall(open.offset, operand, name.text, isList(args) ? list(args) : [])
        } else {
          const optional = isToken(name, T.QUESTION)
          const ident = optional ? open : name
          const field = ident && 'rule' in ident ? (ident.children[0] as Token | undefined) : undefined
          if (!field) {
            if (ident && 'rule' in ident) builder.error(ident.offset, NO_NAME)
            continue
          }
          const text = builder.field(field.offset, field.text, field.type === T.ESC_IDENTIFIER)
          if (text === undefined) operand = builder.hole(part.offset)
          else if (optional) operand = builder.optionalSelect(part.offset, operand, text, field.offset)
          else operand = builder.select(part.offset, operand, text)
        }
      }
    }
    return operand
  }

  function primary(node: ParseNode, nodes: readonly ParseNode[], token: (type: number) => Token | undefined): Expr {
    const [first] = node.children
    if (nodes[0]?.rule === 'literal' || nodes[0]?.rule === 'expr') return visit(nodes[0])
    const ident = token(T.IDENTIFIER)
    const open = token(T.LPAREN)
    const dot = first !== undefined && isToken(first, T.DOT)
    if (ident && open) {
      const args = nodes[0]
      return builder.globalCall(open.offset, ident.text, isList(args) ? list(args) : [], (first as Token).offset, dot)
    }
    for (const child of nodes) {
      const rules = child.children.filter(part => 'rule' in part)
      // A key without a value is not looked at.
      const parts = child.rule === 'mapInits' && rules.length % 2 === 1 ? rules.slice(0, -1) : rules
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i]!
        if (part.rule === 'optField' && parts[i + 1]?.rule === 'expr' && !hasName(part)) {
          builder.error(part.offset, NO_NAME)
          // The value of a field without a name is not looked at.
          i++
        } else visit(part)
      }
    }
    const bracket = token(T.LBRACKET)
    if (bracket) return builder.list(bracket.offset, [], [])
    if (ident && !token(T.LBRACE)) return builder.ident(ident.offset, ident.text, dot, (first as Token).offset)
    return builder.hole(-1)
  }

  function list(node: ParseNode): Expr[] {
    return node.children.filter(part => 'rule' in part).map(part => visit(part))
  }

  function constant(token: Token, negative: boolean, start: Token): Expr {
    const { type, text } = token
    if (type === T.INT) return builder.readLiteral(start.offset, 'int', text, negative)
    if (type === T.FLOAT) return builder.readLiteral(start.offset, 'double', text, negative)
    if (type === T.UINT) return builder.readLiteral(start.offset, 'uint', text)
    if (type === T.STRING) return builder.readLiteral(start.offset, 'string', text)
    if (type === T.BYTES) return builder.readLiteral(start.offset, 'bytes', text)
    return builder.literal(start.offset, type === T.NULL ? null : type === T.TRUE)
  }
}

const hasName = ({ children }: ParseNode): boolean => children.some(part => 'rule' in part && part.children.length > 0)

/** cel-go's words for a name that is missing where the grammar requires one. */
const NO_NAME = 'unsupported ident kind'

/** The first rule at a position or behind it. */
function ruleFrom(children: readonly Part[], from: number): ParseNode | undefined {
  for (let i = from; i < children.length; i++) {
    const part = children[i]!
    if ('rule' in part) return part
  }
  return undefined
}

const isToken = (part: Part | undefined, type: number): part is Token =>
  part !== undefined && !('rule' in part) && part.type === type

const isList = (part: Part | undefined): part is ParseNode =>
  part !== undefined && 'rule' in part && part.rule === 'exprList'
