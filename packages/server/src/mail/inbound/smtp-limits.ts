/** Limits of the SMTP server. What an operator may need to change is a setting. */
export const smtpLimits = {
  connectionsMax: 200,
  /** Connections beyond that, which take the place of an idle one or are refused. */
  sparesMax: 50,
  connectionsPerAddressMax: 10,
  connectionsPerAddressPerMinute: 120,
  messagesPerConnectionMax: 100,
  recipientsMax: 20,
  /** Refused recipients and messages, after which the connection is closed. */
  refusalsPerConnectionMax: 20,
  /**
   * Replies that begin with 4, such as those to recipients that need a message each, after which
   * the connection is closed.
   */
  postponementsPerConnectionMax: 100,
  commandBytesMax: 2_048,
  /** A client that sends nothing for so long is disconnected. */
  idleMsMax: 60_000,
  /** However slowly a message comes, and whatever else a client does. */
  messageMsMax: 300_000,
  connectionMsMax: 900_000,
  /**
   * The bytes of all messages that are being received, read or stored: so many messages of maximum
   * size, or more that are smaller. One client may have half of it.
   */
  messagesAtOnceMax: 2,
  bytesAtOnceMin: 67_108_864,
  /**
   * The chunks in which a message may come. Each line that begins with a dot is one, and costs the
   * server as much as a thousand bytes.
   */
  chunksMax: 100_000,
  /** The pieces in which a message is kept. */
  blockBytes: 65_536,
  /** How long messages that are being received may take when the server stops. */
  stopMsMax: 5_000,
  /** How often the files of the certificate are looked at. */
  certificateMs: 60_000,
}

/** How long a client may take. */
export type SmtpTimes = Pick<typeof smtpLimits, "idleMsMax" | "messageMsMax" | "connectionMsMax">
