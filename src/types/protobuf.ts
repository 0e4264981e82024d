// Objects of the built-in types as protobuf.

export * from './protobuf/envelope.js'
export * from './protobuf/message.js'
