"""English names to find and to put in place of others. Left out are those that are ordinary words too (Mark, Grace, Young)."""

from __future__ import annotations


def _lines(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for line in text.split("\n") for entry in line.split(",") if entry.strip())


FIRST_NAMES = _lines("""
Aaron, Abigail, Adam, Adrian, Aisha, Alan, Albert, Alex, Alexander, Alexandra, Alice, Alison, Amanda, Amelia, Amy
Andrea, Andrew, Angela, Ann, Anna, Anne, Anthony, Antonio, Arthur, Ashley, Audrey, Barbara, Benjamin, Bernard, Beth
Betty, Beverly, Bradley, Brandon, Brenda, Brian, Bruce, Caleb, Cameron, Carlos, Carmen, Carol, Caroline, Catherine
Cecilia, Charles, Charlotte, Cheryl, Chloe, Chris, Christina, Christine, Christopher, Cindy, Claire, Clara, Colin
Connor, Craig, Cynthia, Daniel, David, Deborah, Denise, Dennis, Diana, Diane, Diego, Donald, Donna, Dorothy, Douglas
Dylan, Edward, Eleanor, Elena, Elijah, Elizabeth, Ella, Emily, Emma, Eric, Ethan, Eugene, Evelyn, Fatima, Fiona
Florence, Frances, Francis, Frederick, Gabriel, Gary, George, Gerald, Gloria, Gordon, Gregory, Hannah, Harold, Harriet
Heather, Helen, Henry, Howard, Hugo, Ian, Irene, Isaac, Isabella, Jacob, Jacqueline, James, Jamie, Jane, Janet, Janice
Jason, Jeffrey, Jennifer, Jeremy, Jerry, Jessica, Joan, Joanna, Joe, John, Johnny, Jonathan, Jordan, Jose, Joseph
Joshua, Joyce, Juan, Judith, Julia, Julian, Julie, Justin, Karen, Kate, Katherine, Kathleen, Kathryn, Keith, Kelly
Kenneth, Kevin, Kimberly, Kyle, Larry, Laura, Lauren, Lawrence, Leah, Leo, Leonard, Liam, Linda, Lisa, Logan, Louis
Louise, Lucas, Lucy, Luis, Madison, Margaret, Maria, Marie, Marilyn, Martha, Martin, Mary, Mateo, Matthew, Megan
Melanie, Melissa, Michael, Michelle, Miguel, Mohammed, Monica, Nancy, Naomi, Natalie, Nathan, Nicholas, Nicole, Nina
Noah, Nora, Oliver, Olivia, Oscar, Pamela, Patricia, Patrick, Paul, Paula, Peter, Philip, Phillip, Rachel, Ralph
Raymond, Rebecca, Richard, Robert, Roger, Ronald, Rosemary, Roy, Russell, Ruth, Ryan, Samantha, Samuel, Sandra, Sara
Sarah, Scott, Sean, Sebastian, Sharon, Shirley, Simon, Sofia, Sophia, Sophie, Stanley, Stephanie, Stephen, Steven
Stuart, Susan, Sylvia, Teresa, Terry, Theodore, Theresa, Thomas, Timothy, Tina, Tyler, Vanessa, Veronica, Victor
Victoria, Vincent, Virginia, Walter, Wendy, William, Yvonne, Zachary, Zoe
""")

SURNAMES = _lines("""
Adams, Ahmed, Allen, Alvarez, Anderson, Armstrong, Bailey, Barnes, Barrett, Bennett, Bradley, Brooks, Bryant, Burns
Butler, Campbell, Carlson, Carpenter, Carter, Castillo, Chapman, Chavez, Chen, Clark, Clarke, Coleman, Collins, Cooper
Crawford, Cruz, Cunningham, Davies, Davis, Delgado, Diaz, Dixon, Duncan, Edwards, Elliott, Ellis, Evans, Ferguson
Fernandez, Fisher, Fitzgerald, Fletcher, Flores, Foster, Freeman, Garcia, Gardner, Gibson, Gilbert, Gomez, Gonzalez
Graham, Griffin, Gupta, Gutierrez, Hamilton, Hansen, Harper, Harris, Harrison, Henderson, Hernandez, Hoffman, Holmes
Hopkins, Hudson, Hughes, Ibrahim, Jackson, Jenkins, Jensen, Jimenez, Johnson, Johnston, Jones, Kennedy, Khan, Kowalski
Kumar, Larson, Lewis, Lopez, Marshall, Martinez, Matthews, McCarthy, McDonald, Medina, Mendoza, Meyer, Miller, Mitchell
Montgomery, Moore, Morales, Moreno, Morgan, Morris, Morrison, Mueller, Murphy, Murray, Myers, Nelson, Nguyen, Novak
Obrien, Oconnor, Olson, Ortiz, Palmer, Parker, Patel, Patterson, Perez, Perkins, Perry, Petersen, Peterson, Phillips
Powell, Ramirez, Ramos, Reynolds, Richards, Richardson, Rivera, Roberts, Robertson, Robinson, Rodriguez, Rogers, Romero
Ruiz, Sanchez, Sanders, Schmidt, Schneider, Schultz, Sharma, Shaw, Simmons, Simpson, Singh, Smith, Snyder, Spencer
Stephens, Stevens, Stewart, Sullivan, Suzuki, Tanaka, Taylor, Thompson, Torres, Turner, Vargas, Vasquez, Wagner, Wallace
Walsh, Watkins, Watson, Weaver, Webb, Weber, Wheeler, Williams, Williamson, Willis, Wilson, Wright
""")

PLACES = _lines("""
Aberdeen, Amsterdam, Athens, Atlanta, Auckland, Austin, Baltimore, Bangkok, Barcelona, Beijing, Belfast, Berlin
Birmingham, Bordeaux, Boston, Brisbane, Bristol, Brooklyn, Brussels, Budapest, Buenos Aires, Buffalo, Cairo, Calgary
Cambridge, Cardiff, Charlotte, Chicago, Cincinnati, Cleveland, Cologne, Copenhagen, Dallas, Delhi, Denver, Detroit
Dublin, Edinburgh, Florence, Frankfurt, Geneva, Glasgow, Hamburg, Helsinki, Hong Kong, Honolulu, Houston, Indianapolis
Istanbul, Jakarta, Johannesburg, Kansas City, Krakow, Lagos, Las Vegas, Leeds, Leipzig, Lima, Lisbon, Liverpool, London
Los Angeles, Lyon, Madrid, Manchester, Manhattan, Marseille, Melbourne, Memphis, Mexico City, Miami, Milan, Milwaukee
Minneapolis, Montreal, Moscow, Mumbai, Munich, Nairobi, Naples, Nashville, New Orleans, New York, Newcastle, Nottingham
Oakland, Orlando, Osaka, Oslo, Ottawa, Oxford, Paris, Perth, Philadelphia, Pittsburgh, Portland, Prague, Rome, Rotterdam
Sacramento, Salt Lake City, San Antonio, San Diego, San Francisco, San Jose, Santiago, Seattle, Seoul, Shanghai
Sheffield, Shenzhen, Singapore, Stockholm, Stuttgart, Sydney, Tampa, Tokyo, Toronto, Tucson, Vancouver, Venice, Vienna
Warsaw, Washington, Zurich, Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida
Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maryland, Massachusetts, Michigan, Minnesota
Mississippi, Missouri, Montana, Nebraska, Nevada, New Jersey, New Mexico, North Carolina, Ohio, Oklahoma, Oregon
Pennsylvania, South Carolina, Tennessee, Texas, Utah, Vermont, Wisconsin, Wyoming, Argentina, Australia, Austria
Belgium, Brazil, Britain, Canada, Chile, China, Colombia, Denmark, Egypt, England, Finland, France, Germany, Greece
Hungary, Iceland, India, Indonesia, Ireland, Israel, Italy, Japan, Kenya, Malaysia, Mexico, Morocco, Netherlands
New Zealand, Nigeria, Norway, Pakistan, Peru, Philippines, Poland, Portugal, Scotland, South Africa, Spain, Sweden
Switzerland, Taiwan, Thailand, Ukraine, Vietnam, Wales
""")

ORGANISATIONS = _lines("""
Boston College, Brown University, Columbia University, Cornell University, Duke University, Emory University
Georgetown University, Harvard University, Johns Hopkins University, New York University, Northwestern University
Oxford University, Princeton University, Rice University, Stanford University, Tufts University, Vanderbilt University
Yale University, Lincoln High School, Roosevelt Elementary School, Jefferson Middle School, Bellevue Hospital
Cedars Sinai, Cleveland Clinic, Mayo Clinic, Mercy Hospital, Mount Sinai Hospital, Saint Mary Hospital, Bank of America
Barclays, Citibank, Deutsche Bank, Goldman Sachs, HSBC, Morgan Stanley, Wells Fargo, Allianz, AstraZeneca, AT&T, BMW
Boeing, Bosch, Cisco, Costco, Ericsson, Exxon, Facebook, FedEx, Fujitsu, General Electric, General Motors
GlaxoSmithKline, Google, Hewlett Packard, Hitachi, Honda, Honeywell, Huawei, Hyundai, IBM, Ikea, Intel
Johnson and Johnson, Lufthansa, Marriott, Mastercard, McDonalds, Merck, Microsoft, Mitsubishi, Motorola, Nestle, Netflix
Nike, Nintendo, Nissan, Nokia, Novartis, Oracle, Panasonic, PepsiCo, Pfizer, Philips, Qualcomm, Samsung, Siemens, Sony
Starbucks, Toshiba, Toyota, Unilever, Verizon, Vodafone, Volkswagen, Volvo, Walmart, Yahoo
""")
