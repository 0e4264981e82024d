// What the rules of a schema cost, part by part.
export * from './rules/explain-costs.js'
