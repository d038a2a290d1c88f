/* src/size/size.sql */
