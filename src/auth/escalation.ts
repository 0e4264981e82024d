// The check that a user grants no more than they have.
export * from './authz/escalation.js'
