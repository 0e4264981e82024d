// Token requests and the reviews of tokens and access.
export * from './reviews/review-kinds.js'
export * from './reviews/token-request.js'
